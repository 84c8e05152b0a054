/** States of sessions, receipts and runners when machines are missing, silent or gone. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import {
  type Assignment,
  LEASE_MS,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type ServerFrame,
} from "#protocol/frames.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createKernel, type Kernel } from "../kernel.ts";
import type { Principal } from "../requests/principal.ts";
import type { RunnerRow } from "../schema.ts";
import { failUnmatched } from "./claims/unmatched.ts";
import { endOverdueStops, expireLeases } from "./leases/leases.ts";
import { notifyMachinesGone } from "./leases/machines-gone.ts";
import { listModelCapabilities } from "./runners/runner-directory.ts";
import { classifySessions } from "./runners/turn-material.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
const MINUTE = 60_000;
const MODELS = [{ id: "lab/small", usable: true }];

async function startKernel(store: Store): Promise<Kernel> {
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock: systemClock,
    ids: createIds(),
    log,
    features: [],
    defaults: {
      runtime: "scripted",
      model: null,
      limits: { activePerUser: 1_000, activePerOrg: 1_000 },
    },
  });
  await kernel.prepare();
  return kernel;
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let made: TestDatabase | undefined;
    let store: Store;
    let kernel: Kernel;
    let asked = 0;
    const lines: { die(): Promise<void> }[] = [];
    beforeAll(async () => {
      made = await database();
      const url = made?.url ?? "sqlite::memory:";
      store = await openStore({ url, clock: systemClock, log, onSyncFailure: () => {} });
      kernel = await startKernel(store);
    });
    afterEach(async () => {
      for (const line of lines.splice(0)) await line.die();
      await change("delete from runners");
      await change("delete from runs");
    });
    afterAll(async () => {
      await store.close();
      await made?.drop();
    });

    /** Ends all leases, and lets the sweep run. */
    async function expireAll(): Promise<void> {
      await change("update runs set lease_until = 1 where lease_until is not null");
      await expireLeases(kernel.engine, Date.now(), () => true);
    }

    const change = (sql: string) => store.transaction((tx) => tx.execute({ sql, parameters: [] }));

    async function connect(
      name: string,
      fields: { tags?: string[]; models?: object[] } = {},
      server = kernel,
    ) {
      const frames: ServerFrame[] = [];
      const connection = server.dispatcher.connect(
        {
          kind: "runner",
          orgId: "org_1",
          credentialId: `crd_${name}`,
          scope: "org",
          tags: [],
          name,
        },
        { send: (frame) => frames.push(frame), close: () => {}, isAlive: async () => false },
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
          tags: fields.tags ?? [],
          runtimes: ["scripted"],
          capacity: 5,
          models: (fields.models ?? []) as never,
          sandbox: null,
          version: "0",
        },
        holding: [],
      });
      const seen = new Set<Assignment>();
      const assigned = (): Assignment[] =>
        frames.flatMap((one) => (one.op === "assign" ? [one.assignment] : []));
      const line = {
        id: connection.runner?.id ?? "",
        frames,
        assigned,
        /** Waits for the next assignment of a turn of this session. */
        async turnOf(sessionId: string): Promise<Assignment> {
          const find = () => {
            kernel.dispatcher.poke();
            return assigned().find((one) => one.sessionId === sessionId && !seen.has(one));
          };
          await expect.poll(find).toBeDefined();
          const turn = find() as Assignment;
          seen.add(turn);
          return turn;
        },
        journal: ({ run, fence }: Assignment, fields: object) =>
          send({
            op: "journal",
            id: `j${++asked}`,
            run,
            fence,
            firstOrdinal: 1,
            items: [],
            ...fields,
          }),
        die: () => server.dispatcher.disconnect(connection),
      };
      lines.push(line);
      return line;
    }

    async function begin(fields: { demands?: object } = {}): Promise<string> {
      if (fields.demands) {
        const run = await kernel.runs.create(owner, {
          type: "start_session",
          executionMode: "async_poll",
          prompt: "go",
          demands: fields.demands,
        } as never);
        return run.sessionId;
      }
      return (await kernel.sessions.create(owner, { prompt: "go" })).id;
    }
    const session = (id: string) => kernel.sessions.get(owner, id);
    const receipt = async (id: string) =>
      (await kernel.prompts.list(owner, id, { limit: 1 })).items[0];
    const events = async (id: string) =>
      (await kernel.sessions.events(id, 0, 1_000)).map(({ type }) => type as string);
    const bind = (workspaceId: string) => ({
      executorSessionId: null,
      executorType: "scripted",
      executorProfile: null,
      projectDir: null,
      workspaceId,
    });
    const notices = async (id: string) =>
      (await kernel.sessions.events(id, 0, 1_000)).filter(({ type }) => type === "notice");

    it("says that it waits for a runner, and not for children", async () => {
      const id = await begin();
      expect(await session(id)).toMatchObject({
        activity: "waiting",
        waitingFor: { kind: "runner", message: expect.stringContaining("muster runner") },
      });
      const { items } = await kernel.sessions.list(owner, { status: ["waiting"], limit: 50 });
      expect(items.find((one) => one.id === id)?.waitingFor?.kind).toBe("runner");
    });

    it("says that it waits for the model's quota, and until when", async () => {
      const id = await begin();
      const runner = await connect("one");
      const park = {
        kind: "pause",
        waitMs: 3_600_000,
        code: "model_quota_exhausted",
        message: "Used up.",
      };
      await runner.journal(await runner.turnOf(id), { park });
      const { activity, waitingFor } = await session(id);
      expect({ activity, kind: waitingFor?.kind }).toEqual({ activity: "waiting", kind: "quota" });
      expect(Date.parse(waitingFor?.until ?? "")).toBeGreaterThan(Date.now());
      expect((await receipt(id))?.waitingFor).toMatchObject({ reason: "quota" });
    });

    it("is done after its turn, and idle before", async () => {
      const idle = await kernel.sessions.create(owner, {});
      expect(idle).toMatchObject({ activity: "idle", waitingFor: null });
      const id = await begin();
      const runner = await connect("one");
      await runner.journal(await runner.turnOf(id), { settle: { outcome: "completed" } });
      expect(await session(id)).toMatchObject({ activity: "done", waitingFor: null });
    });

    it("is recovering while its runner is away, unknown when its lease is over, and recovering until another has it", async () => {
      const id = await begin();
      const first = await connect("first");
      await first.turnOf(id);
      expect(await session(id)).toMatchObject({ activity: "working", waitingFor: null });
      await first.die();
      expect(await session(id)).toMatchObject({
        activity: "recovering",
        waitingFor: { kind: "runner" },
      });
      expect(await receipt(id)).toMatchObject({ waitingFor: { reason: "runner_silent" } });
      await change("update runs set lease_until = 1");
      expect(await session(id)).toMatchObject({
        activity: "unknown",
        waitingFor: { kind: "runner" },
      });
      await expireAll();
      expect(await session(id)).toMatchObject({ activity: "recovering" });
      const second = await connect("second");
      await second.turnOf(id);
      expect(await session(id)).toMatchObject({ activity: "working", waitingFor: null });
    });

    it("is not recovering when its turn was put off", async () => {
      const id = await begin();
      const runner = await connect("one");
      const park = { kind: "pause", waitMs: 60_000, code: "models_unknown", message: "Not yet." };
      await runner.journal(await runner.turnOf(id), { park });
      expect(await session(id)).toMatchObject({
        activity: "waiting",
        waitingFor: { kind: "runner" },
      });
    });

    it("writes starts and stops in pairs, and a resume only when it resumes", async () => {
      const id = await begin();
      const first = await connect("first");
      await first.turnOf(id);
      await first.die();
      await expireAll();
      const second = await connect("second");
      const again = await second.turnOf(id);
      expect((await session(id)).lastResumedAt).toBeNull();
      const request = {
        content: "more",
        mode: "followup" as const,
        thread: "main",
        attachments: [],
      };
      const waiting = await kernel.prompts.admit(owner, id, request);
      await second.journal(again, { settle: { outcome: "completed" } });
      // Between two turns the session is not at rest, so nothing is written until the second is
      // gone.
      await kernel.prompts.withdraw(owner, waiting.id).catch(() => undefined);
      const live = (await receipt(id))?.state === "running" ? await second.turnOf(id) : undefined;
      if (live) await second.journal(live, { settle: { outcome: "completed" } });
      const marks = (await events(id)).filter((type) => /^session_st/.test(type));
      expect(marks).toEqual(["session_start", "session_stop"]);
      await kernel.prompts.admit(owner, id, request);
      await expect.poll(async () => (await session(id)).lastResumedAt).not.toBeNull();
      await second.journal(await second.turnOf(id), { settle: { outcome: "failed" } });
      const all = (await events(id)).filter((type) => /^session_st/.test(type));
      expect(all).toEqual(["session_start", "session_stop", "session_start", "session_stop"]);
    });

    it("writes no stop for a session that never started", async () => {
      const id = await begin();
      await kernel.sessions.stop(owner, id);
      expect(await receipt(id)).toMatchObject({ outcome: "aborted" });
      expect((await events(id)).filter((type) => /^session_st/.test(type))).toEqual([]);
    });

    it("ends a turn that ignores a stop although its runner renews the lease", async () => {
      const id = await begin();
      const runner = await connect("one");
      const turn = await runner.turnOf(id);
      await kernel.sessions.stop(owner, id);
      await endOverdueStops(kernel.engine, Date.now(), () => true);
      expect(await session(id)).toMatchObject({ status: "stopping" });
      await change("update runs set stop_by = stop_by - 60000");
      await endOverdueStops(kernel.engine, Date.now(), () => false);
      expect(await session(id)).toMatchObject({ status: "stopping" });
      await endOverdueStops(kernel.engine, Date.now(), () => true);
      expect(await receipt(id)).toMatchObject({ outcome: "aborted" });
      // Later writes of the lost attempt are stale.
      const items = [{ type: "message", entryId: "ent_late", kind: "text", text: "late" }];
      await runner.journal(turn, { items, settle: { outcome: "completed", result: "late" } });
      expect(runner.frames.at(-1)).toMatchObject({ op: "lost", code: "stale_fence" });
    });

    it("begins no turn beside a stopped one that may still be at work", async () => {
      const id = await begin();
      const runner = await connect("one");
      const turn = await runner.turnOf(id);
      const next = { content: "next", mode: "followup" as const, thread: "main", attachments: [] };
      await kernel.prompts.admit(owner, id, next);
      await kernel.runs.stop(owner, turn.run);
      await change("update runs set stop_by = stop_by - 60000");
      await endOverdueStops(kernel.engine, Date.now(), () => true);
      const rows = await store.read((reader) =>
        reader.query<{ state: string; available_at: number }>({
          sql: "select state, available_at from runs order by created_at",
          parameters: [],
        }),
      );
      expect(rows.map(({ state }) => state)).toEqual(["stopped", "pending"]);
      expect(Number(rows[1]?.available_at)).toBeGreaterThan(Date.now() + LEASE_MS / 2);
    });

    it("fails after five minutes when no runner that was seen lately can take it", async () => {
      const gone = await connect("gone", { tags: ["gpu"] });
      await gone.die();
      await connect("here");
      const id = await begin({ demands: { tags: ["gpu"] } });
      const failedIn = (ms: number) => failUnmatched(kernel.engine, Date.now() + ms);
      expect(await failedIn(5 * MINUTE - 2_000)).toBe(0);
      // The runner was connected a moment ago, and is expected back.
      expect(await failedIn(5 * MINUTE + 2_000)).toBe(0);
      await change(
        `update runners set last_seen_at = last_seen_at - ${2 * 60 * MINUTE} where name = 'gone'`,
      );
      expect(await failedIn(5 * MINUTE - 2_000)).toBe(0);
      expect(await failedIn(5 * MINUTE + 2_000)).toBe(1);
      expect(await receipt(id)).toMatchObject({
        outcome: "failed",
        error: { code: "no_matching_runner" },
      });
    });

    it("waits while no runner is connected, and for the machine with its files however long it is offline", async () => {
      const id = await begin({ demands: { tags: ["gpu"] } });
      expect(await failUnmatched(kernel.engine, Date.now() + 60 * MINUTE)).toBe(0);
      const holder = await connect("holder", { tags: ["gpu"] });
      await holder.journal(await holder.turnOf(id), {
        bind: bind(`wsp_${id}`),
      });
      await holder.die();
      await expireAll();
      await change("update runners set last_seen_at = 1");
      await connect("other");
      expect(await failUnmatched(kernel.engine, Date.now() + 60 * MINUTE)).toBe(0);
      expect(await session(id)).toMatchObject({
        activity: "waiting",
        waitingFor: { kind: "machine" },
      });
    });

    it("finds those that cannot be taken also behind hundreds that only wait", async () => {
      const holder = await connect("holder", { tags: ["gpu"] });
      const [first] = [await begin({ demands: { tags: ["none"] } })];
      await holder.die();
      for (let n = 0; n < 210; n++) await begin({ demands: { tags: ["gpu"] } });
      await connect("plain");
      expect(await failUnmatched(kernel.engine, Date.now() + 6 * MINUTE)).toBe(1);
      expect(await receipt(first)).toMatchObject({ error: { code: "no_matching_runner" } });
    }, 60_000);

    it("says once that its machine is gone, five minutes after it was last seen, and again after its return", async () => {
      const id = await begin();
      const holder = await connect("holder");
      await holder.journal(await holder.turnOf(id), {
        bind: bind(`wsp_${id}`),
      });
      await holder.die();
      await expireAll();
      const look = (ms: number) => notifyMachinesGone(kernel.engine, Date.now() + ms);
      await look(4 * MINUTE);
      expect(await notices(id)).toEqual([]);
      await look(6 * MINUTE);
      await look(7 * MINUTE);
      expect(await notices(id)).toMatchObject([{ reason: "workspace_offline" }]);
      const back = await connect("holder");
      await back.turnOf(id);
      await back.die();
      await expireAll();
      await look(6 * MINUTE);
      expect(await notices(id)).toHaveLength(2);
    });

    it("is reported as ended to the machine that it left, when that reconnects", async () => {
      const id = await begin();
      const holder = await connect("holder");
      await holder.journal(await holder.turnOf(id), { bind: bind(`wsp_${id}`) });
      const runner = { id: holder.id, org_id: "org_1" } as RunnerRow;
      expect(await classifySessions(kernel.engine, runner, [id])).toEqual({
        resting: [],
        gone: [],
      });
      await holder.die();
      // Until its lease has ended the runner may be at work, with only its connection lost.
      await expect(kernel.sessions.relocate(owner, id)).rejects.toMatchObject({
        code: "workspace_online",
      });
      await expireAll();
      await kernel.sessions.relocate(owner, id);
      expect(await classifySessions(kernel.engine, runner, [id])).toMatchObject({ gone: [id] });
      const other = await connect("other");
      expect(await other.turnOf(id)).toMatchObject({ carried: { files: [] }, attempt: 2 });
    });

    it("continues elsewhere with its recorded changes when its machine is removed", async () => {
      const id = await begin();
      const holder = await connect("holder");
      const turn = await holder.turnOf(id);
      await holder.journal(turn, { bind: bind(`wsp_${id}`) });
      await kernel.runners.remove(owner, holder.id);
      const other = await connect("other");
      expect(await other.turnOf(id)).toMatchObject({ carried: { files: [] } });
      expect(await notices(id)).toMatchObject([{ reason: "workspace_relocated" }]);
    });

    it("shows runners of a server that died as offline from the start of the next one", async () => {
      const runner = await connect("one", { models: MODELS });
      expect(await store.read((reader) => listModelCapabilities(reader, owner))).toHaveLength(1);
      // State after a server was killed: its lock is free, and nothing else was written.
      await change(`update runners set server_id = 'srv_dead' where id = '${runner.id}'`);
      const next = await startKernel(store);
      expect((await next.runners.list(owner)).items).toMatchObject([{ state: "offline" }]);
      expect(await store.read((reader) => listModelCapabilities(reader, owner))).toEqual([]);
    });

    it("confirms a runner that is idle, and shows one offline that nobody confirms", async () => {
      await connect("ghost");
      const server = await startKernel(store);
      await connect("idle", {}, server);
      await change("update runners set last_seen_at = 1, state = 'online'");
      await server.sweeps.tick();
      const { items } = await server.runners.list(owner);
      const [ghost, idle] = ["ghost", "idle"].map((name) => items.find((one) => one.name === name));
      expect(ghost).toMatchObject({ state: "offline" });
      expect(idle).toMatchObject({ state: "online" });
      expect(Date.parse(idle?.lastSeenAt ?? "")).toBeGreaterThan(MINUTE);
    });
  });
}

suite("states on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("on PostgreSQL", () => {
  suite("states on PostgreSQL", () => createTestDatabase());
});
