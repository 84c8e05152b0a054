/**
 * Counts hops between different owners since a person wrote; pure. The limit stops agents that
 * answer each other's answers, even when each answer starts a new thread.
 */
import { MAX_HOPS } from "../contract.ts";
import type { MessageRow } from "../schema.ts";

/** `causes`: messages that led to this one. */
export function countHops(
  causes: readonly Pick<MessageRow, "hops">[],
  fromOwnerId: string | null,
  toOwnerId: string | null,
): number {
  const before = Math.max(0, ...causes.map(({ hops }) => hops));
  return fromOwnerId === toOwnerId ? before : before + 1;
}

export function exceedsHopLimit(hops: number): boolean {
  return hops > MAX_HOPS;
}
