import { describe, expect, it } from "vitest";
import { floorOf, judgeGauge, judgeLatency, judgeRate, quantile, type Sample } from "./judge.ts";

const COUNT = 90;

/** Noise that is the same in every run. */
function noise(n: number): number {
  return Math.sin(n * 12.9898) * 0.5 + Math.sin(n * 78.233) * 0.5;
}

function series(value: (n: number) => number): Sample[] {
  return Array.from({ length: COUNT }, (_, n) => ({ at: n, value: value(n) }));
}

const memory = { absolute: 20, relative: 0.1 };

describe("a gauge", () => {
  it("may scatter around its level", () => {
    expect(
      judgeGauge(
        series((n) => 100 + 15 * noise(n)),
        memory,
      ).isDrift,
    ).toBe(false);
  });

  it("must not grow all the time", () => {
    const { isDrift, growth } = judgeGauge(
      series((n) => 100 + n + 5 * noise(n)),
      memory,
    );
    expect(isDrift).toBe(true);
    expect(growth).toBeGreaterThan(50);
  });

  it("may grow as much as is allowed", () => {
    expect(
      judgeGauge(
        series((n) => 100 + n / 5),
        memory,
      ).isDrift,
    ).toBe(false);
    expect(
      judgeGauge(
        series((n) => 1_000 + n),
        memory,
      ).isDrift,
    ).toBe(false);
  });

  it("may warm up and level off, gradually or at once", () => {
    const warming = series((n) => 200 - 100 * Math.exp(-n / 10) + noise(n));
    expect(judgeGauge(warming, memory).isDrift).toBe(false);
    expect(
      judgeGauge(
        series((n) => (n < 40 ? 100 : 160)),
        memory,
      ).isDrift,
    ).toBe(false);
  });

  it("is not condemned by a few high samples", () => {
    const spiky = series((n) => (n > 80 && n % 3 === 0 ? 900 : 100 + noise(n)));
    expect(judgeGauge(spiky, memory).isDrift).toBe(false);
  });

  it("is found growing beneath a sawtooth, by its floor", () => {
    const leak = (n: number) => 100 + n;
    const steady = (n: number) => 100 + (n % 15) * 10;
    const leaking = (n: number) => leak(n) + (n % 15) * 10;
    expect(judgeGauge(floorOf(series(steady), 12), memory).isDrift).toBe(false);
    expect(judgeGauge(floorOf(series(leaking), 12), memory).isDrift).toBe(true);
  });

  it("that counts whole things shows one more every few turns", () => {
    const descriptors = { absolute: 12, relative: 0.1 };
    expect(
      judgeGauge(
        series((n) => 40 + Math.floor(n / 2)),
        descriptors,
      ).isDrift,
    ).toBe(true);
    expect(
      judgeGauge(
        series((n) => 40 + (n % 7)),
        descriptors,
      ).isDrift,
    ).toBe(false);
  });

  it("needs enough samples", () => {
    expect(() => judgeGauge(series((n) => n).slice(0, 5), memory)).toThrow("only 5 samples");
  });
});

describe("the growth per turn", () => {
  const bytes = { absolute: 1_000, relative: 0.5 };
  const totals = (value: (turns: number) => number) =>
    Array.from({ length: COUNT }, (_, n) => ({ turns: n * 3, value: value(n * 3) }));

  it("may be constant", () => {
    const { start, isDrift } = judgeRate(
      totals((turns) => 1e6 + 13_000 * turns + 30_000 * noise(turns)),
      bytes,
    );
    expect(isDrift).toBe(false);
    expect(Math.abs(start - 13_000)).toBeLessThan(2_000);
  });

  it("must not increase", () => {
    expect(
      judgeRate(
        totals((turns) => 13_000 * turns + 60 * turns ** 2),
        bytes,
      ).isDrift,
    ).toBe(true);
  });

  it("may become less", () => {
    expect(
      judgeRate(
        totals((turns) => 1e6 * Math.sqrt(turns)),
        bytes,
      ).isDrift,
    ).toBe(false);
  });

  it("cannot be judged without turns", () => {
    const stuck = Array.from({ length: COUNT }, () => ({ turns: 7, value: 1 }));
    expect(() => judgeRate(stuck, bytes)).toThrow("no turn settled");
  });
});

describe("a latency", () => {
  const options = { percentile: 0.5, allowance: { absolute: 20, relative: 0.75 } };
  const calm = series((n) => 10 + noise(n));

  it("must not grow while the machine is as fast as before", () => {
    expect(
      judgeLatency(
        series((n) => 50 + n),
        calm,
        options,
      ).isDrift,
    ).toBe(true);
  });

  it("may grow as the whole machine becomes slower", () => {
    const slower = series((n) => 10 + n / 4);
    expect(
      judgeLatency(
        series((n) => 50 + n),
        slower,
        options,
      ).isDrift,
    ).toBe(false);
  });

  it("may stay as it is", () => {
    expect(
      judgeLatency(
        series((n) => 50 + 20 * noise(n)),
        calm,
        options,
      ).isDrift,
    ).toBe(false);
  });

  it("uses the nearest rank", () => {
    expect(quantile([5, 1, 9, 3], 0.5)).toBe(3);
    expect(quantile([5, 1, 9, 3], 0.99)).toBe(9);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
