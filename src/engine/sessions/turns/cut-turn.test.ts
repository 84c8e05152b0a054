import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createLog } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import { createKernel, type Kernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { RunnerConnection } from "#engine/runs/runners/runner-connection.ts";
import { defineTool } from "#engine/tools/index.ts";
import { INTERRUPTED, type SessionEvent } from "#protocol/events.ts";
import { type Assignment, RUNNER_PROTOCOL } from "#protocol/frames.ts";
import type { QueueMode } from "#protocol/sessions.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
const runner = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  scope: "org",
  tags: [],
  name: "r",
} as const;
const log = createLog({ level: "silent" });

/** A tool of the server. */
const slow = defineTool({
  name: "slow",
  description: "",
  readOnly: false,
  target: () => null,
  schema: z.strictObject({}),
  handle: async () => ({ output: { made: "ses_7" }, error: null }),
});

describe("a turn that is cut short", () => {
  let kernel: Kernel;
  let sessionId: string;
  let assigned: Assignment[];
  let first: string;
  let held: Pick<Assignment, "run" | "fence"> & { connection: RunnerConnection };

  /** Connects a process of the same runner: runs of an earlier process are lost. */
  async function connectRunner(bootId: string): Promise<RunnerConnection> {
    const connection = kernel.dispatcher.connect(runner, {
      send: (frame) => {
        if (frame.op === "assign") assigned.push(frame.assignment);
      },
      close: () => {},
      isAlive: async () => false,
    });
    await connection.receive({
      op: "register",
      id: "1",
      protocol: RUNNER_PROTOCOL,
      bootId,
      profile: {
        name: "r",
        hostname: "h",
        folder: "/f",
        profile: "default",
        projectDir: null,
        tags: [],
        runtimes: ["scripted"],
        capacity: 1,
        models: [],
        sandbox: null,
        version: "0",
      },
      holding: [],
    });
    return connection;
  }

  const send = async (content: string, mode: QueueMode) =>
    (
      await kernel.prompts.admit(owner, sessionId, {
        content,
        mode,
        thread: "main",
        attachments: [],
      })
    ).id;
  const outcome = async (id: string) => {
    const { state, outcome: ended, supersededBy } = await kernel.prompts.get(owner, id);
    return { state, outcome: ended, supersededBy };
  };
  const events = (): Promise<SessionEvent[]> => kernel.sessions.events(sessionId, 0, 100);

  beforeEach(async () => {
    const clock = new FakeClock();
    const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
    kernel = await createKernel({
      store,
      bus: createMemoryBus(log),
      clock,
      ids: createIds(),
      log,
      features: [{ name: "slow", tools: [slow] }],
      defaults: {
        runtime: "scripted",
        model: null,
        limits: { activePerUser: 10, activePerOrg: 10 },
      },
    });
    assigned = [];
    sessionId = (await kernel.sessions.create(owner, {})).id;
    first = await send("tool slow {}", "followup");
    const connection = await connectRunner("boot_1");
    await expect.poll(() => assigned.length).toBe(1);
    held = { connection, ...(assigned[0] as Assignment) };
    const { run, fence } = held;
    const call = { callId: "call_1", tool: "slow", input: {}, step: 0, authorise: true };
    await connection.receive({
      op: "journal",
      id: "2",
      run,
      fence,
      firstOrdinal: 1,
      items: [{ type: "pre_tool", entryId: "ent_1", ...call }],
    });
  });

  const perform = async () => {
    const { connection, run, fence } = held;
    const call = { callId: "call_1", name: "slow", input: {} };
    await connection.receive({ op: "tool", id: "3", run, fence, ...call });
  };
  const lose = async () => {
    held.connection.closed = true;
    const next = await connectRunner("boot_2");
    next.draining = true;
    expect((await events()).at(-1)).toMatchObject({ type: "run_lost" });
  };

  const lastAnswer = async () => (await events()).find(({ type }) => type === "post_tool");

  it("is superseded by a steer, and the steer runs", async () => {
    await lose();
    const steer = await send("say b", "steer");
    expect(await outcome(first)).toEqual({
      state: "settled",
      outcome: "superseded",
      supersededBy: steer,
    });
    expect(await outcome(steer)).toMatchObject({ state: "queued" });
    expect((await kernel.sessions.get(owner, sessionId)).activity).toBe("waiting");
  });

  it("is superseded when a queued prompt is sent now", async () => {
    await lose();
    const queued = await send("say b", "followup");
    await kernel.prompts.promote(owner, queued);
    expect(await outcome(first)).toMatchObject({ outcome: "superseded", supersededBy: queued });
  });

  it("is aborted by an interrupt and by a stop", async () => {
    await lose();
    await send("say b", "interrupt");
    expect(await outcome(first)).toMatchObject({ outcome: "aborted" });
    await kernel.sessions.stop(owner, sessionId);
    expect((await kernel.sessions.get(owner, sessionId)).activity).toBe("idle");
  });

  it("leaves no call without an answer", async () => {
    await lose();
    await kernel.sessions.stop(owner, sessionId);
    expect(await lastAnswer()).toMatchObject({
      role: "system",
      error: INTERRUPTED,
      data: { callId: "call_1", step: 0 },
    });
  });

  it("says what became of a call that the server had performed", async () => {
    await perform();
    await lose();
    await kernel.sessions.stop(owner, sessionId);
    expect(await lastAnswer()).toMatchObject({ error: null, toolOutput: '{"made":"ses_7"}' });
  });

  it("says so too when its runner gives up waiting for the answer", async () => {
    await perform();
    const { connection, run, fence } = held;
    const call = { callId: "call_1", tool: "slow", input: {}, output: null, error: INTERRUPTED };
    await connection.receive({
      op: "journal",
      id: "4",
      run,
      fence,
      firstOrdinal: 2,
      items: [{ type: "post_tool", entryId: "ent_2", ...call }],
      settle: { outcome: "aborted" },
    });
    expect(await lastAnswer()).toMatchObject({ error: null, toolOutput: '{"made":"ses_7"}' });
  });
});
