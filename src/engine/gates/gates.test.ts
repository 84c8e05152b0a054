/**
 * Gates: the first answer stands, a turn continues when all are answered, and gets each answer
 * once.
 */
import { describe, expect, it } from "vitest";
import { LEASE_MS } from "#protocol/frames.ts";
import { EXPIRY_MARGIN_MS, expireLeases } from "../runs/leases/leases.ts";
import { findRun } from "../runs/queries.ts";
import type { GateRow } from "../schema.ts";
import { asksAboutAll, call, startTestKernel, text } from "../testing/test-kernel.ts";
import { command } from "../work.ts";
import type { GateDecision } from "./decision.ts";
import { decideGate, GATE_TTL_MS, gateTimerDue, openGate } from "./gates.ts";

const YES: GateDecision = { allowed: true, reason: null, answers: null, scope: "once" };
const NO: GateDecision = { ...YES, allowed: false };

async function start() {
  const at = await startTestKernel([asksAboutAll]);
  const id = await at.createSession();
  const runner = await at.connect("one");
  const { id: promptId } = await at.send(id, "go");
  await expect.poll(() => runner.assigned().length).toBe(1);
  const turn = runner.assigned()[0];
  if (!turn) throw new Error("nothing was assigned");
  const gates = () => at.select<GateRow>("select * from gates order by call_id");
  const decide = (gateId: string, decision = YES) =>
    command(at.engine, (work) => decideGate(work, gateId, decision, "usr_1"));
  /** Parks the turn at its first call. */
  const ask = async () => {
    const park = { kind: "gate", callId: "c1" } as const;
    await runner.journal(turn, { items: [call("c1", "ls")], park });
    const [gate] = await gates();
    if (!gate) throw new Error("no gate was opened");
    return gate;
  };
  /** Opens another gate, as an agent program does that keeps its runner. */
  const open = (callId: string) =>
    command(at.engine, async (work) => {
      const session = await work.session(id);
      const run = await findRun(work.tx, turn.run);
      if (!session || !run) throw new Error("the run is gone");
      const asked = { callId, kind: "approval", tool: "bash", target: null, shown: {} } as const;
      return openGate(work, session, run, asked);
    });
  return { ...at, id, promptId, runner, turn, gates, decide, ask, open };
}

describe("a decision", () => {
  it("queues the parked turn and delivers the decision once to its next holder", async () => {
    const { ask, decide, runner, turn, run, prompt, promptId, clock, engine } = await start();
    await decide((await ask()).id);
    await expect.poll(() => runner.assigned().length).toBe(2);
    const second = runner.assigned()[1];
    expect(second).toMatchObject({
      fence: turn.fence + 1,
      decisions: [{ callId: "c1", allowed: true, fresh: true }],
    });
    expect(await run(turn.run)).toMatchObject({ state: "claimed" });
    expect((await prompt(promptId)).state).toBe("running");
    // The attempt that got the decision is lost: the next one must not take the approval for
    // unused.
    clock.advance(LEASE_MS + EXPIRY_MARGIN_MS + 1);
    await expireLeases(engine, clock.now(), () => true);
    clock.advance(60_000);
    await runner.connection.recount();
    engine.announcer.runsReady();
    await expect.poll(() => runner.assigned().length).toBe(3);
    expect(runner.assigned()[2]?.decisions).toMatchObject([{ callId: "c1", fresh: false }]);
  });

  it("stands: the second answer is refused", async () => {
    const { ask, decide, gates } = await start();
    const { id } = await ask();
    await decide(id, NO);
    await expect(decide(id, YES)).rejects.toMatchObject({ code: "already_decided" });
    expect(JSON.parse((await gates())[0]?.decision ?? "{}")).toMatchObject({ allowed: false });
  });

  it("lets a turn go on only when nothing is asked any more", async () => {
    const { open, decide, run, turn, prompt, promptId } = await start();
    const [first, second] = [await open("c1"), await open("c2")];
    expect((await run(turn.run)).state).toBe("gated");
    await decide(first.id);
    expect((await run(turn.run)).state).toBe("gated");
    expect((await prompt(promptId)).state).toBe("gated");
    await decide(second.id);
    // The runner has kept the run.
    expect(await run(turn.run)).toMatchObject({ state: "running", fence: turn.fence });
    expect((await prompt(promptId)).state).toBe("running");
  });
});

describe("a gate", () => {
  it("that nobody answers in time is a no, and no answer counts afterwards", async () => {
    const { ask, decide, engine, clock, runner } = await start();
    const gate = await ask();
    clock.advance(GATE_TTL_MS);
    await expect(decide(gate.id)).rejects.toMatchObject({ code: "approval_expired" });
    const timer = { id: "t", org_id: "org_1", kind: "gate", subject: gate.id, due_at: 0 };
    await command(engine, (work) => gateTimerDue(work, timer));
    await expect.poll(() => runner.assigned().length).toBe(2);
    expect(runner.assigned()[1]?.decisions).toMatchObject([{ callId: "c1", allowed: false }]);
  });

  it("is opened once for a call", async () => {
    const { open, gates } = await start();
    expect((await open("c1")).id).toBe((await open("c1")).id);
    expect(await gates()).toHaveLength(1);
  });

  it("is not opened for a turn that nobody holds", async () => {
    const { open, runner, turn, gates } = await start();
    await runner.journal(turn, { items: [text("done")], settle: { outcome: "completed" } });
    await expect(open("c1")).rejects.toMatchObject({ code: "run_not_held" });
    expect(await gates()).toEqual([]);
  });

  it("is withdrawn when its turn ends", async () => {
    const { open, runner, turn, gates, decide } = await start();
    const { id } = await open("c1");
    await runner.journal(turn, { settle: { outcome: "completed" } });
    expect((await gates())[0]?.state).toBe("cancelled");
    await expect(decide(id)).rejects.toMatchObject({ code: "already_decided" });
  });
});
