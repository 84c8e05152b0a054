import { describe, expect, it } from "vitest";
import { planRestart } from "./restart-policy.ts";

const MIN = 60_000;
const NOW = 1_000 * MIN;
const ended = (minutesAgo: number, restarts: number[] = [], stoppedAt: number | null = null) =>
  planRestart(
    {
      deadSince: NOW - minutesAgo * MIN,
      restarts: restarts.map((ago) => NOW - ago * MIN),
      stoppedAt: stoppedAt === null ? null : NOW - stoppedAt * MIN,
    },
    NOW,
  );

describe("an orchestrator that has ended", () => {
  it("is left alone for two minutes", () => {
    expect(ended(0)).toEqual({ state: "recovering", dueAt: NOW + 2 * MIN });
    expect(ended(5)).toEqual({ state: "recovering", dueAt: NOW - 3 * MIN });
  });

  it("is tried again sooner when it did not come back at all, each time later", () => {
    expect(ended(5, [0])).toEqual({ state: "backoff", dueAt: NOW + 15_000 });
    expect(ended(5, [1, 0])).toEqual({ state: "backoff", dueAt: NOW + 30_000 });
  });

  it("is left alone again when it came back and ended again", () => {
    expect(ended(1, [3])).toEqual({ state: "backoff", dueAt: NOW + 1 * MIN });
  });

  it("is given up after three failures in ten minutes, and not for older ones", () => {
    expect(ended(1, [9, 6, 3])).toEqual({ state: "stopped", dueAt: null });
    expect(ended(3, [11, 6, 4]).state).toBe("backoff");
  });

  it("stays given up, until it was here again", () => {
    expect(ended(60, [], 50)).toEqual({ state: "stopped", dueAt: null });
    expect(ended(5, [], 50).state).toBe("recovering");
  });
});
