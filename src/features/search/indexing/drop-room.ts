/**
 * How much may leave the index in one transaction. To take a word out of a large one needs about a
 * tenth of a millisecond, and everybody's writes wait for it; so the room grows only for as long as a
 * transaction is measured to be short. Pure.
 */
import type { DocumentRow } from "../schema.ts";

/** In characters: some short documents, or one of any length. */
export const DROP_ROOM = 1_600;
const MAX_ROOM = 40_000;
const MIN_COST = 400;
/** More than these never fit. */
export const MAX_DROPPED = DROP_ROOM / MIN_COST;
export const droppedAtMost = (room: number) => Math.max(1, Math.ceil(room / MIN_COST));

/** How long a transaction that drops may keep the writer. */
const STEP_MS = 2;

/** The room of the next transaction, by how long the one before took that had this much. */
export function nextRoom(room: number, tookMs: number): number {
  if (tookMs > STEP_MS) return Math.max(DROP_ROOM, Math.floor(room / 2));
  return tookMs < STEP_MS / 2 ? Math.min(MAX_ROOM, Math.ceil(room * 1.25)) : room;
}

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
