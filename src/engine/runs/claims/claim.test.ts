/** Prompts made ready by a settlement, and the runners that get them. */
import { describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import type { Feature } from "#engine/feature.ts";
import { createKernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { RunRow } from "#engine/schema.ts";
import { startTestKernel } from "#engine/testing/test-kernel.ts";
import type { Work } from "#engine/work.ts";
import { type Assignment, LEASE_MS, RUNNER_PROTOCOL, type ServerFrame } from "#protocol/frames.ts";
import { EXPIRY_MARGIN_MS } from "../leases/leases.ts";
import { claimRuns } from "./claim.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
const machine = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  scope: "org",
  tags: [],
  name: "r",
} as const;

async function start(capacity: number) {
  const clock = new FakeClock();
  const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  const commands = new Map<string, Work>();
  const witness: Feature = {
    name: "witness",
    listeners: [
      async (work, event) => {
        if (event.type === "prompt_settled" || event.type === "prompt_started")
          commands.set(`${event.type} ${event.prompt.content}`, work);
      },
    ],
  };
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock,
    ids: createIds(),
    log,
    features: [witness],
    defaults: {
      runtime: "scripted",
      model: null,
      limits: { activePerUser: 10, activePerOrg: 10 },
    },
  });
  const frames: ServerFrame[] = [];
  const connection = kernel.dispatcher.connect(machine, {
    send: (frame) => frames.push(frame),
    close: () => {},
    isAlive: async () => true,
  });
  await connection.receive({
    op: "register",
    id: "1",
    protocol: RUNNER_PROTOCOL,
    bootId: "boot_1",
    profile: {
      name: "r",
      hostname: "h",
      folder: "/f",
      profile: "default",
      projectDir: null,
      tags: [],
      runtimes: ["scripted"],
      capacity,
      models: [],
      sandbox: null,
      version: "0",
    },
    holding: [],
  });
  const assigned = () => frames.flatMap((one) => (one.op === "assign" ? [one.assignment] : []));
  return {
    commands,
    connection,
    frames,
    assigned,
    createSession: async () => (await kernel.sessions.create(owner, {})).id,
    send: (sessionId: string, content: string) => {
      const request = { content, mode: "followup" as const, thread: "main", attachments: [] };
      return kernel.prompts.admit(owner, sessionId, request);
    },
    async settle({ run, fence }: Assignment) {
      const settle = { outcome: "completed" as const, result: "done" };
      const ref = { run, fence, firstOrdinal: 1, items: [] };
      await connection.receive({ op: "journal", id: `end ${run}`, ...ref, settle });
    },
  };
}

describe("what a settlement makes ready", () => {
  it("is claimed in the same transaction by a runner with places free, before its answer", async () => {
    const { commands, frames, assigned, createSession, send, settle } = await start(2);
    const id = await createSession();
    await send(id, "one");
    await expect.poll(() => assigned().length).toBe(1);
    await send(id, "two");
    const before = frames.length;
    await settle(assigned()[0] as Assignment);
    expect(frames.slice(before).map(({ op }) => op)).toEqual(["assign", "journaled"]);
    expect(assigned()[1]).toMatchObject({ sessionId: id, content: "two", fence: 1 });
    expect(commands.get("prompt_started two")).toBe(commands.get("prompt_settled one"));
    await settle(assigned()[1] as Assignment);
    expect(assigned()).toHaveLength(2);
  });

  it("is not given to a runner that holds more than it says", async () => {
    const { commands, connection, assigned, createSession, send, settle } = await start(2);
    const [id, other] = [await createSession(), await createSession()];
    await send(id, "one");
    await send(other, "beside");
    await expect.poll(() => assigned().length).toBe(2);
    await send(id, "two");
    // The runner came back with fewer places, and this server does not know of its other runs.
    if (connection.runner) connection.runner.capacity = 1;
    connection.held.clear();
    await settle(assigned().find((one) => one.sessionId === id) as Assignment);
    expect(commands.has("prompt_settled one")).toBe(true);
    expect(commands.has("prompt_started two")).toBe(false);
    await settle(assigned().find((one) => one.sessionId === other) as Assignment);
    await expect.poll(() => assigned().length).toBe(3);
  });

  it("waits for its turn when the runner has more to do than places", async () => {
    const { commands, assigned, createSession, send, settle } = await start(1);
    const [id, other] = [await createSession(), await createSession()];
    await send(id, "one");
    await expect.poll(() => assigned().length).toBe(1);
    await send(other, "older");
    await send(id, "two");
    await settle(assigned()[0] as Assignment);
    await expect.poll(() => assigned().length).toBe(2);
    expect(assigned()[1]).toMatchObject({ sessionId: other, content: "older" });
    expect(commands.has("prompt_started two")).toBe(false);
    await settle(assigned()[1] as Assignment);
    await expect.poll(() => assigned().length).toBe(3);
    expect(assigned()[2]).toMatchObject({ sessionId: id, content: "two" });
  });
});

describe("claims", () => {
  it("give the oldest run first, each under a new fence and with a lease", async () => {
    const at = await startTestKernel();
    const ids: string[] = [];
    for (const content of ["a", "b", "c"]) {
      const id = await at.createSession();
      await at.send(id, content);
      ids.push(id);
      at.clock.advance(1_000);
    }
    const runner = await at.connect("one", 2);
    await expect.poll(() => runner.assigned().length).toBe(2);
    expect(runner.assigned().map(({ sessionId }) => sessionId)).toEqual(ids.slice(0, 2));
    const [first] = runner.assigned();
    expect(first).toMatchObject({ fence: 1, attempt: 1 });
    expect(await at.run(first?.run ?? "")).toMatchObject({
      state: "claimed",
      fence: 1,
      lease_until: at.clock.now() + LEASE_MS,
    });
  });

  it("give a run to one of two runners that look at once", async () => {
    const at = await startTestKernel();
    const runners = [await at.connect("one"), await at.connect("two")];
    await expect.poll(() => runners.every(({ connection }) => connection.free === 1)).toBe(true);
    const reserved = runners.map(({ connection }) => connection.reserve());
    await at.send(await at.createSession(), "go");
    await Promise.all(reserved.map(async (one) => one && (await claimRuns(at.engine, one))));
    for (const one of reserved) await one?.release();
    await expect.poll(() => runners.flatMap((one) => one.assigned()).length).toBe(1);
  });

  it("keep reserved places from others until they are released", async () => {
    const at = await startTestKernel();
    const runner = await at.connect("one");
    await expect.poll(() => runner.connection.free).toBe(1);
    const reservation = runner.connection.reserve();
    expect(runner.connection.reserve()).toBeUndefined();
    await reservation?.release();
    expect(runner.connection.free).toBe(1);
  });

  it("that are durable too late are given back, unharmed", async () => {
    const at = await startTestKernel();
    const runner = await at.connect("one");
    await expect.poll(() => runner.connection.free).toBe(1);
    const reservation = runner.connection.reserve();
    if (!reservation) throw new Error("no place is free");
    await at.send(await at.createSession(), "go");
    at.clock.advance(EXPIRY_MARGIN_MS + 1);
    await claimRuns(at.engine, reservation);
    expect(runner.assigned()).toEqual([]);
    await reservation.release();
    const [run] = await at.select<RunRow>("select * from runs");
    expect(run).toMatchObject({ state: "pending", runner_id: null, strikes: 0 });
  });
});
