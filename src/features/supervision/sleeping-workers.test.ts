/**
 * A hibernated worker whose supervisor's limit is reached, and one whose completion was approved
 * late.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decideGate, listPendingGates } from "#engine/gates/index.ts";
import { command, type Feature } from "#engine/index.ts";
import { admitPrompt } from "#engine/sessions/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createSupervision } from "./index.ts";

const done = { outcome: "completed", result: "done" } as const;
/** A minute, after which all sweeps run again. */
const SWEEP_MS = 61_000;

/** Requires approval of every completion. */
const strict: Feature = {
  name: "strict",
  judge: async (_work, { tool }) =>
    tool === "complete_session" ? { verdict: "ask", reason: "Is it done?" } : undefined,
};

let world: World;
let at: FakeSessionTree;
beforeEach(async () => {
  const workersPerSupervisor = 2;
  world = await startWorld([
    createDelegation({ workersPerSupervisor }),
    createSupervision({ workersPerSupervisor }),
    strict,
  ]);
  at = new FakeSessionTree(world);
});
afterEach(() => world.stop());

/** A hibernated worker whose supervisor has two others active. */
async function sleeping() {
  const supervisorId = await world.createSession({ title: "S" });
  await world.as(owner).supervision.enable({ id: supervisorId });
  const workerId = await at.spawn(supervisorId);
  await at.settle(await at.turnOf(workerId), done);
  for (const turn of await at.arrived()) await at.settle(turn, done);
  await world.kernel.sessions.hibernate(owner, workerId);
  const others = [await at.spawn(supervisorId), await at.spawn(supervisorId)];
  return { supervisorId, workerId, others };
}

async function sweep(): Promise<void> {
  world.clock.advance(SWEEP_MS);
  for (const turn of await at.arrived()) await turn.renew();
  await world.kernel.sweeps.tick();
}

describe("a sleeping worker without a place", () => {
  it("is refused to a person in words for a person, and to its agent in words for an agent", async () => {
    const { supervisorId, workerId } = await sleeping();
    const code = "fanout_limit_exceeded";
    const forPerson = expect.stringContaining("its parent already has 2 live children");
    await expect(at.sendPrompt(workerId, "hello")).rejects.toMatchObject({
      code,
      message: forPerson,
    });
    await expect(world.kernel.sessions.wake(owner, workerId)).rejects.toMatchObject({
      code,
      message: forPerson,
    });
    expect(await at.session(workerId)).toMatchObject({ lifecycle: "hibernated" });
    const turn = await at.prompt(supervisorId);
    const { error } = await turn.tool("orchestrate_send_to_worker", { workerId, message: "go" });
    expect(error).toMatch(/^fanout_limit_exceeded: There are already 2 live child sessions/);
  });

  it("keeps what the platform sends, and hears it when there is a place", async () => {
    const { workerId, others } = await sleeping();
    await at.act(workerId, (work, session) =>
      admitPrompt(work, session, {
        id: "pmt_told",
        runId: "run_told",
        content: "[approval] done",
        thread: "main",
        mode: "followup",
        author: { kind: "system", id: "approvals", name: "Muster" },
        origin: { channelType: "system", channelId: null, scopeKey: null, replyRef: null },
        createdBy: "system",
        dispatchId: null,
        causeKey: "told",
        attachments: [],
        runOptions: null,
      }),
    );
    await sweep();
    expect(await at.session(workerId)).toMatchObject({ lifecycle: "hibernated" });
    expect(await world.kernel.prompts.get(owner, "pmt_told")).toMatchObject({ state: "queued" });
    await world.kernel.sessions.archive(owner, others[0] as string, true);
    await sweep();
    expect((await at.turnOf(workerId)).assignment.content).toBe("[approval] done");
  });
});

describe("a completion that a person had to approve", () => {
  const complete = async (token: string) => {
    const agent = await world.kernel.agents.identify(token);
    if (!agent) throw new Error("no such agent");
    const input = { summary: "All is done." };
    return world.kernel.agents.callTool(agent, { callId: "c1", name: "complete_session", input });
  };
  const allow = async (sessionId: string) => {
    const { engine } = world.kernel;
    await command(engine, async (work) => {
      const [gate] = await listPendingGates(work.tx, sessionId);
      const decision = { allowed: true, reason: null, answers: null, scope: "once" as const };
      await decideGate(work, gate?.id ?? "", decision, owner.userId);
    });
    await sweep();
    const pending = () =>
      engine.store.read((reader) =>
        reader.query({ sql: "select id from outbox where state = 'pending'", parameters: [] }),
      );
    await expect.poll(pending).toEqual([]);
  };

  it("ends the session at once when no turn runs, and its parent hears the summary", async () => {
    const { parentId, childId, turn } = await at.createParentAndChild();
    expect(await complete(turn.assignment.token)).toMatchObject({ endsTurn: true });
    await at.settle(turn, done);
    await allow(childId);
    expect(await at.row(childId)).toMatchObject({ lifecycle: "archived", waiting: 0 });
    const inbox = await at.inbox(parentId);
    expect(inbox.map(({ type, payload }) => [type, payload.text])).toContainEqual([
      "worker.ended",
      "All is done.",
    ]);
  });

  it("ends it with the turn that runs by then", async () => {
    const { childId, turn } = await at.createParentAndChild();
    await complete(turn.assignment.token);
    await at.settle(turn, done);
    const later = await at.prompt(childId, "one more thing");
    await allow(childId);
    expect(await at.row(childId)).toMatchObject({ lifecycle: "active", waiting: 0 });
    await at.settle(later, done);
    expect(await at.row(childId)).toMatchObject({ lifecycle: "archived", waiting: 0 });
  });
});
