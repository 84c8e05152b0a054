/**
 * How often letters have gone from one person's side to another's since a person wrote; pure. Agents
 * that answer each other's answers are cut off by it, also when each answer begins a new exchange.
 */
import { MAX_HOPS } from "../contract.ts";
import type { LetterRow } from "../schema.ts";

/** `causes`: the letters that called this one forth. */
export function hopsOf(
  causes: readonly Pick<LetterRow, "hops">[],
  fromOwnerId: string | null,
  toOwnerId: string | null,
): number {
  const before = Math.max(0, ...causes.map(({ hops }) => hops));
  return fromOwnerId === toOwnerId ? before : before + 1;
}

export function isTooFar(hops: number): boolean {
  return hops > MAX_HOPS;
}
