import { describe, expect, it } from "vitest";
import { afterLoss, MAX_BLAMELESS_ATTEMPTS } from "./attempts.ts";

const lost = { attempts: 1, strikes: 0, progressed: false, blameless: false };

describe("after a runner was lost", () => {
  it("gives up at the third attempt in a row that got nowhere", () => {
    const first = afterLoss(lost);
    expect(first).toMatchObject({ kind: "retry", strikes: 1 });
    const second = afterLoss({ ...lost, attempts: 2, strikes: first.strikes });
    expect(second).toMatchObject({ kind: "retry", strikes: 2 });
    expect(afterLoss({ ...lost, attempts: 3, strikes: second.strikes })).toEqual({
      kind: "give_up",
      strikes: 3,
    });
  });

  it("counts anew after progress", () => {
    expect(afterLoss({ ...lost, attempts: 9, strikes: 2, progressed: true })).toMatchObject({
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

  it("does not blame the prompt for a server that went down with its runner", () => {
    const blameless = { ...lost, attempts: 7, strikes: 2, blameless: true };
    expect(afterLoss(blameless)).toEqual({ kind: "retry", strikes: 2, backoffMs: 0 });
    expect(afterLoss({ ...blameless, attempts: MAX_BLAMELESS_ATTEMPTS })).toMatchObject({
      kind: "give_up",
    });
    expect(afterLoss({ ...blameless, attempts: 99, progressed: true })).toMatchObject({
      kind: "retry",
      strikes: 0,
    });
  });
});
