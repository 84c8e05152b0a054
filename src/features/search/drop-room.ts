/**
 * How much may leave the index in one transaction. To take a word out of a large one needs about a
 * tenth of a millisecond, and everybody's writes wait for it. Pure.
 */
import type { DocumentRow } from "./schema.ts";

/** In characters: some short documents, or one of any length. */
export const DROP_ROOM = 1_600;
const MIN_COST = 400;
/** More than these never fit. */
export const MAX_DROPPED = DROP_ROOM / MIN_COST;

export function dropCost({ title, body }: Pick<DocumentRow, "title" | "body">): number {
  return Math.max(MIN_COST, title.length + body.length);
}

/** The first of them that fit. */
export function thatFit<T extends Pick<DocumentRow, "title" | "body">>(
  documents: readonly T[],
  room = DROP_ROOM,
): T[] {
  let left = room;
  return documents.filter((document) => {
    const fits = left > 0;
    left -= dropCost(document);
    return fits;
  });
}
