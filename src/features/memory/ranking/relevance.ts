/**
 * Relevance of memories. It fades by the same share each day, so one stored instant is enough: the time
 * when the memory will have faded. No row changes as days pass; of two memories the one that fades
 * first is always the less relevant; and the database can sort by that instant. Pure.
 */

export const FIRST_RELEVANCE = 1;
export const MAX_RELEVANCE = 2;
/** Memories below this relevance are pruned. */
export const MIN_RELEVANCE = 0.1;
const BOOST = 0.1;
const KEPT_A_DAY = 0.99;
const DAY_MS = 86_400_000;

/** Returns the time when a present relevance will have fallen to the minimum. */
export function fadesAt(relevance: number, now: number): number {
  const capped = Math.min(MAX_RELEVANCE, Math.max(0.001, relevance));
  const days = Math.log(capped / MIN_RELEVANCE) / -Math.log(KEPT_A_DAY);
  return now + Math.round(days * DAY_MS);
}

export function relevanceAt(fades: number, now: number): number {
  const days = (fades - now) / DAY_MS;
  return Math.min(MAX_RELEVANCE, MIN_RELEVANCE * KEPT_A_DAY ** -days);
}

/** Raises the relevance of a memory that was read. */
export function boosted(fades: number, now: number): number {
  return fadesAt(relevanceAt(fades, now) + BOOST, now);
}

/** Raises the relevance of a memory that somebody wrote or edited to at least that of a new one. */
export function renewed(fades: number, now: number): number {
  return Math.max(fades, fadesAt(FIRST_RELEVANCE, now));
}

/** Rounds the relevance for people and models to meaningful digits. */
export function shownRelevance(fades: number, now: number): number {
  return Math.round(relevanceAt(fades, now) * 1000) / 1000;
}
