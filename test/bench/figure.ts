/** The types of a figure, and the arithmetic that figures share. */
import type { BenchTools } from "./tools.ts";

export interface Target {
  /**
   * Ours must be at most, or at least, this many times the floor; or this value, whatever the
   * floor.
   */
  kind: "at_most_ratio" | "at_least_ratio" | "at_most" | "at_least";
  value: number;
}

export interface Row {
  figure: string;
  unit: string;
  ours: number;
  /** Undefined where a bare server has nothing to compare. */
  floor?: number;
  target?: Target;
  note?: string;
}

export interface Figure {
  name: string;
  /** Also part of `--quick`. */
  quick: boolean;
  measure(tools: BenchTools): Promise<Row[]>;
}

export const atMostRatio = (value: number): Target => ({ kind: "at_most_ratio", value });
export const atLeastRatio = (value: number): Target => ({ kind: "at_least_ratio", value });
export const atMost = (value: number): Target => ({ kind: "at_most", value });
export const atLeast = (value: number): Target => ({ kind: "at_least", value });

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.ceil((percent / 100) * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? Number.NaN;
}

/**
 * Runs every contender once a round, one after the other, so that a disturbance of the machine
 * affects all of them. Returns the measurements of each, round by round.
 */
export async function interleave<K extends string, T>(
  rounds: number,
  contenders: Readonly<Record<K, () => Promise<T>>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(contenders) as K[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, T[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of names) results[name].push(await contenders[name]());
  return results;
}

/** The median of one measurement over all rounds. */
export function medianOf<T>(rounds: readonly T[], pick: (round: T) => number): number {
  return median(rounds.map(pick));
}
