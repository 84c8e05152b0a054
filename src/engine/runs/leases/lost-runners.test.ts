/** Runners that are not ready, fall silent, come back or are revoked, and the fate of their turns. */
import { afterEach, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createKernel, type Kernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import {
  type Assignment,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type ServerFrame,
} from "#protocol/frames.ts";
import { isFindingModels } from "../runners/runner-directory.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function startServer(store: Store, clock: FakeClock): Promise<Kernel> {
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock,
    ids: createIds(),
    log,
    features: [],
    defaults: {
      runtime: "scripted",
      model: null,
      limits: { activePerUser: 100, activePerOrg: 100 },
    },
  });
  // A first look at the clock; later ones come in time.
  await kernel.sweeps.tick();
  return kernel;
}

async function start() {
  const clock = new FakeClock();
  const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  stores.push(store);
  let kernel = await startServer(store, clock);
  let asked = 0;

  async function pass(seconds: number): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      clock.advance(1_000);
      await kernel.sweeps.tick();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async function connect(name: string, given: Partial<Register> = {}) {
    const frames: ServerFrame[] = [];
    const line = { isQuiet: false };
    const connection = kernel.dispatcher.connect(
      {
        kind: "runner",
        orgId: "org_1",
        credentialId: `crd_${name}`,
        scope: "org",
        tags: [],
        name,
      },
      {
        send: (frame) => frames.push(frame),
        close: () => {},
        isAlive: async () => false,
        isQuiet: () => line.isQuiet,
      },
    );
    const send = (frame: RunnerFrame) => connection.receive(frame);
    await send({
      op: "register",
      id: "1",
      protocol: RUNNER_PROTOCOL,
      bootId: `boot_${name}_${++asked}`,
      profile: {
        name,
        hostname: name,
        folder: "/f",
        profile: "default",
        projectDir: null,
        tags: [],
        runtimes: ["scripted"],
        capacity: 5,
        models: [],
        sandbox: null,
        version: "0",
      },
      holding: [],
      acknowledges: true,
      ...given,
    });
    return {
      connection,
      frames,
      line,
      assigned: (): Assignment[] =>
        frames.flatMap((one) => (one.op === "assign" ? [one.assignment] : [])),
      accept: ({ run, fence }: Assignment) => send({ op: "accepted", run, fence }),
      say: ({ run, fence }: Assignment, settles: boolean) =>
        send({
          op: "journal",
          id: `say ${++asked}`,
          run,
          fence,
          firstOrdinal: 1,
          items: [{ type: "message", entryId: `ent_${run}_${fence}`, kind: "text", text: "hi" }],
          ...(settles ? { settle: { outcome: "completed" as const, result: "hi" } } : {}),
        }),
      reportModels: () => send({ op: "models", id: `models ${++asked}`, models: [] }),
      /** Simulates silence: the runner sends nothing more, and its wire is given up. */
      async fallSilent() {
        connection.fellSilent();
        await kernel.dispatcher.disconnect(connection);
      },
      /** Simulates a dead process, whose wire the system closed. */
      die: () => kernel.dispatcher.disconnect(connection),
    };
  }

  return {
    clock,
    store,
    pass,
    connect,
    async restartServer() {
      kernel = await startServer(store, clock);
    },
    async prompt(fields: { runtime?: string } = {}) {
      const session = await kernel.sessions.create(owner, fields);
      const request = { content: "go", mode: "followup" as const, thread: "main", attachments: [] };
      return kernel.prompts.admit(owner, session.id, request);
    },
    receipt: (id: string) => kernel.prompts.get(owner, id),
    runners: async () => (await kernel.runners.list(owner)).items,
    remove: (id: string) => kernel.runners.remove(owner, id),
    lossesOf: async (sessionId: string) => {
      const events = await kernel.sessions.events(sessionId, 0, 100);
      return events.filter(({ type }) => type === "run_lost").map(({ reason }) => reason);
    },
    drop: (name: string) => kernel.dispatcher.drop(`crd_${name}`, "revoked"),
  };
}

type Register = Extract<RunnerFrame, { op: "register" }>;

describe("a runner that does not know its models yet", () => {
  it("is given nothing until it reports them, and the receipt says so", async () => {
    const { store, connect, prompt, receipt, runners, pass } = await start();
    const runner = await connect("a", { ready: false });
    const { id } = await prompt();
    await pass(3);
    expect(runner.assigned()).toEqual([]);
    expect(await runners()).toMatchObject([{ state: "online", ready: false }]);
    expect((await receipt(id)).waitingFor).toMatchObject({ reason: "runner_starting" });
    expect(await store.read((reader) => isFindingModels(reader, owner))).toBe(true);
    await runner.reportModels();
    await expect.poll(() => runner.assigned().length).toBe(1);
    expect(await runners()).toMatchObject([{ ready: true }]);
    expect(await store.read((reader) => isFindingModels(reader, owner))).toBe(false);
  });

  it("is no reason to fail what it could take", async () => {
    const { connect, prompt, receipt, pass } = await start();
    await connect("a", { ready: false });
    const { id } = await prompt({ runtime: "nowhere" });
    await pass(7 * 60);
    expect(await receipt(id)).toMatchObject({ state: "queued" });
  });
});

describe("a quiet runner", () => {
  it("is offered nothing until it is heard again", async () => {
    const { connect, prompt, pass } = await start();
    const [quiet, other] = [await connect("a"), await connect("b")];
    quiet.line.isQuiet = true;
    for (let n = 0; n < 4; n++) await prompt();
    await expect.poll(() => other.assigned().length).toBe(4);
    expect(quiet.assigned()).toEqual([]);
    await other.die();
    quiet.line.isQuiet = false;
    await prompt();
    await pass(1);
    expect(quiet.assigned()).toHaveLength(1);
  });
});

describe("a runner that falls silent", () => {
  it("is shown offline, and the receipt says that another will take over and when", async () => {
    const { clock, connect, prompt, receipt, runners } = await start();
    const runner = await connect("a");
    const { id } = await prompt();
    await expect.poll(() => runner.assigned().length).toBe(1);
    expect((await receipt(id)).waitingFor).toBeNull();
    await runner.fallSilent();
    expect(await runners()).toMatchObject([{ state: "offline" }]);
    const { waitingFor } = await receipt(id);
    expect(waitingFor).toMatchObject({ reason: "runner_silent" });
    expect(Date.parse(waitingFor?.until ?? "")).toBe(clock.now() + 17_000);
  });

  it("loses its turn to another within 20 s, though it has come back meanwhile", async () => {
    const { connect, prompt, pass } = await start();
    const first = await connect("a");
    await prompt();
    await expect.poll(() => first.assigned().length).toBe(1);
    await first.accept(first.assigned()[0] as Assignment);
    await first.fallSilent();
    const other = await connect("b");
    await pass(17);
    // The runner comes back as the same process, which no longer works on the run.
    const again = await connect("a");
    await pass(2);
    expect(again.assigned()).toEqual([]);
    expect(other.assigned()).toMatchObject([{ fence: 2 }]);
    // Frames about its earlier attempt change nothing.
    await again.say(first.assigned()[0] as Assignment, true);
    expect(again.frames.at(-1)).toMatchObject({ op: "lost", code: "stale_fence" });
  });

  it("gets its turn back when no other can take it", async () => {
    const { connect, prompt, pass } = await start();
    const first = await connect("a");
    await prompt();
    await expect.poll(() => first.assigned().length).toBe(1);
    await first.fallSilent();
    await pass(17);
    const again = await connect("a");
    await pass(2);
    expect(again.assigned()).toMatchObject([{ fence: 2 }]);
  });

  it("gets it back too when the others have no place for it", async () => {
    const { connect, prompt, pass } = await start();
    const first = await connect("a");
    const { id } = await prompt();
    await expect.poll(() => first.assigned().length).toBe(1);
    await first.fallSilent();
    const other = await connect("b");
    for (let n = 0; n < 5; n++) await prompt();
    await expect.poll(() => other.assigned().length).toBe(5);
    for (const one of other.assigned()) await other.accept(one);
    const renew = async () => {
      const runs = other.assigned().map(({ run, fence }) => ({ run, fence }));
      await other.connection.receive({ op: "renew", id: "renew", runs });
    };
    for (let n = 0; n < 4; n++) {
      await renew();
      await pass(4);
    }
    const again = await connect("a");
    for (let n = 0; n < 4; n++) {
      await renew();
      await pass(4);
    }
    expect(again.assigned()).toMatchObject([{ promptId: id }]);
  });

  it("is held against no prompt, however often", async () => {
    const { connect, prompt, receipt, pass } = await start();
    const { id } = await prompt();
    for (let n = 0; n < 5; n++) {
      const runner = await connect(`r${n}`);
      await expect.poll(() => runner.assigned().length).toBe(1);
      await runner.accept(runner.assigned()[0] as Assignment);
      await runner.fallSilent();
      await pass(20);
    }
    expect(await receipt(id)).toMatchObject({ outcome: null, attempts: 5 });
  });
});

describe("an assignment", () => {
  it("is no strike when it was never accepted", async () => {
    const { connect, prompt, receipt, pass } = await start();
    const { id } = await prompt();
    for (let n = 0; n < 5; n++) {
      const runner = await connect(`r${n}`);
      await expect.poll(() => runner.assigned().length).toBe(1);
      await runner.die();
      await pass(20);
    }
    expect(await receipt(id)).toMatchObject({ outcome: null, attempts: 5 });
  });

  it.each([true, undefined])("is one when its runner died with it", async (acknowledges) => {
    const { connect, prompt, receipt, pass } = await start();
    const { id } = await prompt();
    for (let n = 0; n < 3; n++) {
      const runner = await connect(`r${n}`, { acknowledges });
      await expect.poll(() => runner.assigned().length).toBe(1);
      // A runner of the previous version confirms nothing.
      if (acknowledges) await runner.accept(runner.assigned()[0] as Assignment);
      await runner.die();
      await pass(20);
    }
    expect(await receipt(id)).toMatchObject({
      outcome: "failed",
      error: { code: "attempts_exhausted" },
    });
  });
});

describe("a revoked runner", () => {
  it.each(["removed", "token revoked", "removed while away"])(
    "loses its turns at once: %s",
    async (how) => {
      const { connect, prompt, runners, remove, drop, receipt } = await start();
      const revoked = await connect("a");
      const { id } = await prompt();
      await expect.poll(() => revoked.assigned().length).toBe(1);
      const assignment = revoked.assigned()[0] as Assignment;
      await revoked.accept(assignment);
      const other = await connect("b");
      if (how === "removed while away") await revoked.fallSilent();
      const runnerId = (await runners()).find(({ name }) => name === "a")?.id ?? "";
      await (how === "token revoked" ? drop("a") : remove(runnerId));
      await expect.poll(() => other.assigned().length).toBe(1);
      expect(other.assigned()).toMatchObject([{ run: assignment.run, fence: 2 }]);
      if (how !== "removed while away") {
        const { run } = assignment;
        expect(revoked.frames).toContainEqual(
          expect.objectContaining({ op: "lost", run, fence: 1, code: "runner_revoked" }),
        );
      }
      // Later frames of the revoked runner have a stale fence.
      await revoked.say(assignment, true);
      expect(revoked.frames.at(-1)).toMatchObject({ op: "lost", code: "stale_fence" });
      expect(await receipt(id)).toMatchObject({ outcome: null });
      await other.say(other.assigned()[0] as Assignment, true);
      expect(await receipt(id)).toMatchObject({ outcome: "completed" });
    },
  );
});

describe("the log of a lost run", () => {
  it("distinguishes a restarted runner from one that only reconnected without the run", async () => {
    const { connect, prompt, lossesOf } = await start();
    const first = await connect("a", { bootId: "boot_1" });
    const { sessionId } = await prompt();
    await expect.poll(() => first.assigned().length).toBe(1);
    const again = await connect("a", { bootId: "boot_1" });
    await expect.poll(() => again.assigned().length).toBe(1);
    expect(await lossesOf(sessionId)).toEqual(["runner_dropped"]);
    const restarted = await connect("a", { bootId: "boot_2" });
    await expect.poll(() => restarted.assigned().length).toBe(1);
    expect(await lossesOf(sessionId)).toEqual(["runner_dropped", "runner_restarted"]);
  });
});

describe("a revoked runner that does not hang up", () => {
  it("is shown offline whatever it sends, and gets nothing about its former turn", async () => {
    const { connect, prompt, runners, drop } = await start();
    const revoked = await connect("a");
    await prompt();
    await expect.poll(() => revoked.assigned().length).toBe(1);
    const { run, fence } = revoked.assigned()[0] as Assignment;
    await drop("a");
    const { connection, frames } = revoked;
    await connection.receive({ op: "renew", id: "r", runs: [{ run, fence }] });
    expect((await runners()).map(({ state }) => state)).toEqual(["offline"]);
    await connection.receive({ op: "history", id: "h", run, fence, beforeSeq: null, limit: 9 });
    await connection.receive({ op: "blob", id: "b", run, fence, mediaType: "a/b", data: "eHg=" });
    expect(frames.filter((one) => "id" in one && (one.id === "h" || one.id === "b"))).toEqual([
      { op: "lost", id: "h", run, code: "stale_fence" },
      { op: "lost", id: "b", run, code: "stale_fence" },
    ]);
  });
});

describe("after a restart of the server", () => {
  it("no runner is shown as connected that has not come back", async () => {
    const { connect, prompt, runners, receipt, restartServer } = await start();
    const runner = await connect("a");
    const { id } = await prompt();
    await expect.poll(() => runner.assigned().length).toBe(1);
    await restartServer();
    expect(await runners()).toMatchObject([{ state: "offline" }]);
    expect((await receipt(id)).waitingFor).toMatchObject({ reason: "runner_silent" });
    await connect("b");
    const states = (await runners()).map(({ name, state }) => `${name} ${state}`);
    expect(states.sort()).toEqual(["a offline", "b online"]);
  });

  it("a runner has five minutes to come before anything is called unmatched", async () => {
    const { clock, connect, prompt, receipt, restartServer, pass } = await start();
    const { id } = await prompt({ runtime: "elsewhere" });
    clock.advance(60 * 60_000);
    await restartServer();
    await connect("a");
    await pass(4 * 60);
    expect(await receipt(id)).toMatchObject({ state: "queued" });
    await pass(3 * 60);
    expect(await receipt(id)).toMatchObject({
      outcome: "failed",
      error: { code: "no_matching_runner" },
    });
  });

  it("restarts alone never exhaust a turn's attempts", async () => {
    const { connect, prompt, receipt, restartServer, pass } = await start();
    const { id } = await prompt();
    for (let n = 0; n < 25; n++) {
      const runner = await connect("a");
      await pass(16);
      await expect.poll(() => runner.assigned().length).toBe(1);
      await runner.accept(runner.assigned()[0] as Assignment);
      await restartServer();
    }
    expect(await receipt(id)).toMatchObject({ outcome: null, attempts: 25 });
  });
});
