/**
 * Limits how much may leave the index in one transaction. Removing a word from a large index takes
 * about a tenth of a millisecond, and all other writes wait for it; so the limit grows only while
 * transactions are measured to be short. Pure.
 */
import type { DocumentRow } from "../schema.ts";

/** Initial limit in characters: some short documents, or one of any length. */
export const DROP_ROOM = 1_600;
const MAX_ROOM = 40_000;
const MIN_COST = 400;
/** Maximum of documents that fit into the initial limit. */
export const MAX_DROPPED = DROP_ROOM / MIN_COST;
export const droppedAtMost = (room: number) => Math.max(1, Math.ceil(room / MIN_COST));

/** Time that a removing transaction may keep the writer. */
const STEP_MS = 2;

/** Returns the limit of the next transaction from the limit and the duration of the last one. */
export function nextRoom(room: number, tookMs: number): number {
  if (tookMs > STEP_MS) return Math.max(DROP_ROOM, Math.floor(room / 2));
  return tookMs < STEP_MS / 2 ? Math.min(MAX_ROOM, Math.ceil(room * 1.25)) : room;
}

export function dropCost({ title, body }: Pick<DocumentRow, "title" | "body">): number {
  return Math.max(MIN_COST, title.length + body.length);
}

/** Returns the first documents that fit. */
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
