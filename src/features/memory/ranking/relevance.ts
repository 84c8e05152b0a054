/**
 * How much a memory still counts. It fades by the same share each day, so what has to be kept is one
 * instant: when it will have faded. Nothing needs to be touched as days go by, of two memories the
 * one that fades first is the less relevant at any time, and the database can sort by it. Pure.
 */

export const FIRST_RELEVANCE = 1;
export const MAX_RELEVANCE = 2;
/** Below this it is pruned. */
export const MIN_RELEVANCE = 0.1;
const BOOST = 0.1;
const KEPT_A_DAY = 0.99;
const DAY_MS = 86_400_000;

/** When a relevance of now will have become the least that is kept. */
export function fadesAt(relevance: number, now: number): number {
  const capped = Math.min(MAX_RELEVANCE, Math.max(0.001, relevance));
  const days = Math.log(capped / MIN_RELEVANCE) / -Math.log(KEPT_A_DAY);
  return now + Math.round(days * DAY_MS);
}

export function relevanceAt(fades: number, now: number): number {
  const days = (fades - now) / DAY_MS;
  return Math.min(MAX_RELEVANCE, MIN_RELEVANCE * KEPT_A_DAY ** -days);
}

/** It was read. */
export function boosted(fades: number, now: number): number {
  return fadesAt(relevanceAt(fades, now) + BOOST, now);
}

/** Somebody has written it, or cares for it: it counts at least as much as a new one. */
export function renewed(fades: number, now: number): number {
  return Math.max(fades, fadesAt(FIRST_RELEVANCE, now));
}

/** For people and models: no more digits than mean something. */
export function shownRelevance(fades: number, now: number): number {
  return Math.round(relevanceAt(fades, now) * 1000) / 1000;
}
