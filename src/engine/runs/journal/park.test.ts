/** Parking: a turn releases its runner, and only its next holder may write for it. */
import { describe, expect, it } from "vitest";
import { asksAboutAll, call, owner, startTestKernel, text } from "#engine/testing/test-kernel.ts";

const PAUSE = { kind: "pause", waitMs: 5_000, code: "model_busy", message: "Busy." } as const;
const stale = { op: "lost", code: "stale_fence" };

async function start() {
  const at = await startTestKernel([asksAboutAll]);
  const id = await at.createSession();
  const runner = await at.connect("one");
  const { id: promptId } = await at.send(id, "go");
  await expect.poll(() => runner.assigned().length).toBe(1);
  const turn = runner.assigned()[0];
  if (!turn) throw new Error("nothing was assigned");
  return { ...at, id, promptId, runner, turn };
}

describe("a turn that pauses", () => {
  it("lets go of its runner, is not counted as an attempt, and waits", async () => {
    const { runner, turn, run, prompt, promptId, clock } = await start();
    await runner.journal(turn, { park: PAUSE });
    expect(await run(turn.run)).toMatchObject({
      state: "pending",
      runner_id: null,
      lease_until: null,
      attempts: 0,
      available_at: clock.now() + PAUSE.waitMs,
    });
    expect(await prompt(promptId)).toMatchObject({ state: "running", outcome: null });
  });

  it("is written for by nobody until it is claimed, and then under a new fence", async () => {
    const { id, runner, turn, said, clock, engine } = await start();
    await runner.journal(turn, { park: PAUSE });
    expect(await runner.journal(turn, { items: [text("ghost")] })).toMatchObject(stale);
    clock.advance(PAUSE.waitMs);
    engine.announcer.runsReady();
    await expect.poll(() => runner.assigned().length).toBe(2);
    const next = runner.assigned()[1] ?? turn;
    expect(next).toMatchObject({ run: turn.run, fence: turn.fence + 1, attempt: 1 });
    expect(await runner.journal(turn, { items: [text("ghost")] })).toMatchObject(stale);
    await runner.journal(next, { items: [text("real")] });
    expect(await said(id)).toEqual(["real"]);
  });

  it("cannot be parked under another fence", async () => {
    const { runner, turn, run } = await start();
    const other = { ...turn, fence: turn.fence + 1 };
    expect(await runner.journal(other, { park: PAUSE })).toMatchObject(stale);
    expect(await run(turn.run)).toMatchObject({ state: "claimed", attempts: 1 });
  });

  it("ends instead when somebody has stopped it", async () => {
    const { id, runner, turn, run, prompt, promptId, kernel } = await start();
    await runner.journal(turn, { items: [text("a")] });
    await kernel.sessions.stopAll(owner, id);
    expect((await run(turn.run)).state).toBe("stopping");
    await runner.journal(turn, { firstOrdinal: 2, park: PAUSE });
    expect(await run(turn.run)).toMatchObject({ state: "stopped", outcome: "aborted" });
    expect(await prompt(promptId)).toMatchObject({ state: "settled", outcome: "aborted" });
  });
});

describe("a turn that asks", () => {
  const park = { kind: "gate", callId: "c1" } as const;

  it("is gated without a runner", async () => {
    const { runner, turn, run, prompt, promptId } = await start();
    await runner.journal(turn, { items: [call("c1", "ls")], park });
    expect(await run(turn.run)).toMatchObject({
      state: "gated",
      runner_id: null,
      lease_until: null,
    });
    expect((await prompt(promptId)).state).toBe("gated");
    expect(await runner.journal(turn, { firstOrdinal: 2, items: [text("x")] })).toMatchObject(
      stale,
    );
  });

  it("must have journaled the call it asks about", async () => {
    const { runner, turn, run } = await start();
    expect(await runner.journal(turn, { park })).toMatchObject({ code: "call_not_found" });
    expect(await run(turn.run)).toMatchObject({ state: "claimed", attempts: 1 });
  });
});
