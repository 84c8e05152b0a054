import { describe, expect, it } from "vitest";
import { afterLoss, type LostAttempt, MAX_BLAMELESS } from "./attempts.ts";

const lost: LostAttempt = { strikes: 0, blameless: 0, progressed: false, blame: "prompt" };

describe("after a runner was lost", () => {
  it("gives up at the third attempt in a row that got nowhere", () => {
    const first = afterLoss(lost);
    expect(first).toMatchObject({ kind: "retry", strikes: 1 });
    const second = afterLoss({ ...lost, strikes: first.strikes });
    expect(second).toMatchObject({ kind: "retry", strikes: 2 });
    expect(afterLoss({ ...lost, strikes: second.strikes })).toMatchObject({
      kind: "give_up",
      strikes: 3,
    });
  });

  it("counts anew after progress", () => {
    expect(afterLoss({ ...lost, strikes: 2, progressed: true })).toMatchObject({
      kind: "retry",
      strikes: 1,
    });
  });

  it("waits longer each time", () => {
    const pauses = [0, 1].map((strikes) => {
      const next = afterLoss({ ...lost, strikes });
      return next.kind === "retry" ? next.backoffMs : 0;
    });
    expect(pauses[1]).toBeGreaterThan(pauses[0] as number);
  });

  it("does not blame the prompt for what happened to the machine", () => {
    const next = afterLoss({ ...lost, strikes: 2, blame: "machine" });
    expect(next).toEqual({ kind: "retry", strikes: 2, blameless: 1, backoffMs: 0 });
  });

  it("tries again at growing intervals when the machine goes down again and again", () => {
    const pauses: number[] = [];
    let now: LostAttempt = { ...lost, blame: "machine" };
    for (;;) {
      const next = afterLoss(now);
      if (next.kind === "give_up") break;
      pauses.push(next.backoffMs);
      now = { ...now, blameless: next.blameless };
    }
    expect(pauses).toHaveLength(MAX_BLAMELESS - 1);
    expect(pauses.slice(0, 4)).toEqual([0, 0, 0, 250]);
    // Restarts within some minutes never end a turn.
    expect(pauses.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(5 * 60_000);
  });

  it("never gives up a turn that gets on, however often the machine goes down", () => {
    const often = { ...lost, blameless: MAX_BLAMELESS - 1, strikes: 2, progressed: true };
    expect(afterLoss({ ...often, blame: "machine" })).toEqual({
      kind: "retry",
      strikes: 0,
      blameless: 0,
      backoffMs: 0,
    });
  });

  it("counts nothing when a draining runner gives the run back", () => {
    const next = afterLoss({ ...lost, strikes: 2, blameless: MAX_BLAMELESS - 1, blame: "none" });
    expect(next).toMatchObject({ kind: "retry", strikes: 2, blameless: MAX_BLAMELESS - 1 });
  });
});
