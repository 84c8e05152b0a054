/**
 * Decides if a figure drifts. All functions are pure and compare a run with itself: the first third
 * of the measurements with the last third, never with a fixed time or size.
 */

/** One measurement; `at` in seconds. */
export interface Sample {
  at: number;
  value: number;
}

/** A running total with the number of turns settled by then. */
export interface Total {
  turns: number;
  value: number;
}

/** Growth up to the larger of the two is noise. `relative` is a share of the value at the start. */
export interface Allowance {
  absolute: number;
  relative: number;
}

export interface Drift {
  start: number;
  end: number;
  growth: number;
  allowed: number;
  isDrift: boolean;
}

/** Fewer samples than this say nothing about a trend. */
const FEWEST_SAMPLES = 9;
/** Growth must stand out from the scatter around the trend by this factor. */
const NOISE_FACTOR = 4;
/** Scales a median absolute deviation to a standard deviation. */
const MAD_SCALE = 1.4826;
/** Share of the growth that must lie in the second half; otherwise it has already levelled off. */
const LATE_SHARE = 0.25;
/** Distance between the middles of the first and the last third, as a share of the time. */
const THIRDS_APART = 2 / 3;

/** Judges a figure that goes up and down and must keep its level, such as memory. */
export function judgeGauge(samples: readonly Sample[], allowance: Allowance): Drift {
  requireEnough(samples.length);
  const [first, middle, last] = inThirds(samples).map((third) =>
    median(third.map(({ value }) => value)),
  ) as [number, number, number];
  const { slope, noise } = trendOf(samples);
  const span = spanOf(samples.map(({ at }) => at));
  const allowed = Math.max(allowedGrowth(first, allowance), NOISE_FACTOR * noise);
  const growth = last - first;
  const isSteep = slope * span * THIRDS_APART > allowed;
  const isDrift = growth > allowed && isSteep && stillGrows(first, middle, last);
  return { start: first, end: last, growth, allowed, isDrift };
}

/** Judges the growth per turn of a total that may grow, such as the bytes of the database. */
export function judgeRate(totals: readonly Total[], allowance: Allowance): Drift {
  requireEnough(totals.length);
  const [first, middle, last] = inThirds(totals).map(rateOf) as [number, number, number];
  const allowed = allowedGrowth(first, allowance);
  const growth = last - first;
  const isDrift = growth > allowed && stillGrows(first, middle, last);
  return { start: first, end: last, growth, allowed, isDrift };
}

/**
 * Judges a percentile of latencies. `reference` has latencies of something outside the product,
 * taken at the same times: a machine that got slower for everyone is no drift.
 */
export function judgeLatency(
  latencies: readonly Sample[],
  reference: readonly Sample[],
  { percentile, allowance }: { percentile: number; allowance: Allowance },
): Drift {
  requireEnough(latencies.length);
  const [first, middle, last] = inThirds(latencies).map((third) =>
    quantile(
      third.map(({ value }) => value),
      percentile,
    ),
  ) as [number, number, number];
  const allowed = allowedGrowth(first, allowance) + first * (slowdownOf(reference, percentile) - 1);
  const growth = last - first;
  const isDrift = growth > allowed && stillGrows(first, middle, last);
  return { start: first, end: last, growth, allowed, isDrift };
}

/** The lowest value of each of several equal stretches: a sawtooth without its teeth. */
export function floorOf(samples: readonly Sample[], stretches: number): Sample[] {
  const floor: Sample[] = [];
  for (let n = 0; n < stretches; n++) {
    const from = Math.round((n * samples.length) / stretches);
    const stretch = samples.slice(from, Math.round(((n + 1) * samples.length) / stretches));
    const [lowest] = stretch.toSorted((a, b) => a.value - b.value);
    if (lowest) floor.push(lowest);
  }
  return floor;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The nearest rank; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[rank] ?? Number.NaN;
}

function requireEnough(count: number): void {
  if (count < FEWEST_SAMPLES) throw new Error(`only ${count} samples: nothing can be judged`);
}

function allowedGrowth(start: number, { absolute, relative }: Allowance): number {
  return Math.max(absolute, relative * Math.abs(start));
}

/** Growth that came early and then stopped is a cache that filled up, or memory that warmed up. */
function stillGrows(first: number, middle: number, last: number): boolean {
  return last - middle >= LATE_SHARE * (last - first);
}

function inThirds<T>(list: readonly T[]): [T[], T[], T[]] {
  const third = Math.floor(list.length / 3);
  return [list.slice(0, third), list.slice(third, -third), list.slice(-third)];
}

function spanOf(places: readonly number[]): number {
  return (places.at(-1) ?? 0) - (places[0] ?? 0);
}

/** Theil–Sen: the median of all slopes between two samples, which outliers hardly move. */
function trendOf(samples: readonly Sample[]): { slope: number; noise: number } {
  const slopes: number[] = [];
  for (const [n, a] of samples.entries())
    for (const b of samples.slice(n + 1))
      if (b.at > a.at) slopes.push((b.value - a.value) / (b.at - a.at));
  const slope = slopes.length === 0 ? 0 : median(slopes);
  const residues = samples.map(({ at, value }) => value - slope * at);
  const centre = median(residues);
  const noise = MAD_SCALE * median(residues.map((residue) => Math.abs(residue - centre)));
  return { slope, noise };
}

/** Least squares through a stretch: the growth per turn. */
function rateOf(totals: readonly Total[]): number {
  const meanTurns = meanOf(totals.map(({ turns }) => turns));
  const meanValue = meanOf(totals.map(({ value }) => value));
  let above = 0;
  let below = 0;
  for (const { turns, value } of totals) {
    above += (turns - meanTurns) * (value - meanValue);
    below += (turns - meanTurns) ** 2;
  }
  if (below === 0) throw new Error("no turn settled in a third of the run");
  return above / below;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Slowdown of the reference from the first to the last third; 1 if there is none. */
function slowdownOf(reference: readonly Sample[], percentile: number): number {
  requireEnough(reference.length);
  const [first, , last] = inThirds(reference).map((third) =>
    quantile(
      third.map(({ value }) => value),
      percentile,
    ),
  ) as [number, number, number];
  return Math.max(1, last / Math.max(first, Number.EPSILON));
}
