/**
 * When an orchestrator that has ended is brought back without a person; pure. It is left alone at
 * first, because a person may be bringing it back; each time that did not last makes the next one
 * wait, and the third in ten minutes is the last until a person does it.
 */
import type { Recovery } from "../contract.ts";

export const DEAD_MS = 2 * 60_000;
export const WINDOW_MS = 10 * 60_000;
export const MAX_FAILURES = 3;
const PAUSES_MS = [15_000, 30_000, 60_000] as const;

export interface Ended {
  /** When it ended. */
  deadSince: number;
  /** When it was last brought back without a person. That it is not here says that it failed. */
  restarts: readonly number[];
  /** When it was given up; about this end if it is not before it. */
  stoppedAt: number | null;
}

export interface Plan {
  state: Recovery["state"];
  /** Null: not by itself. */
  dueAt: number | null;
}

export function planRestart({ deadSince, restarts, stoppedAt }: Ended, now: number): Plan {
  const isGivenUp = stoppedAt !== null && stoppedAt >= deadSince;
  const recent = recentOf(restarts, now);
  if (isGivenUp || recent.length >= MAX_FAILURES) return { state: "stopped", dueAt: null };
  const last = recent.at(-1);
  if (last === undefined) return { state: "recovering", dueAt: deadSince + DEAD_MS };
  // Before the end: it did not come back at all. After it: it came back, and ended again.
  const rest = last < deadSince ? deadSince + DEAD_MS : 0;
  const pause = PAUSES_MS[Math.min(recent.length, PAUSES_MS.length) - 1] as number;
  return { state: "backoff", dueAt: Math.max(rest, last + pause) };
}

export function recentOf(restarts: readonly number[], now: number): number[] {
  return restarts.filter((at) => at > now - WINDOW_MS);
}
