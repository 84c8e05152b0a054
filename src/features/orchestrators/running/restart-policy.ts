/**
 * Schedule for restoring an ended orchestrator without a person; pure. A grace period comes first,
 * because a person may be restoring it. Each failed restart delays the next one, and after the
 * third within ten minutes only a person restores it.
 */
import type { Recovery } from "../contract.ts";

export const DEAD_MS = 2 * 60_000;
export const WINDOW_MS = 10 * 60_000;
export const MAX_FAILURES = 3;
const PAUSES_MS = [15_000, 30_000, 60_000] as const;

export interface EndedOrchestrator {
  /** Time when it ended. */
  deadSince: number;
  /**
   * Times of recent restarts without a person. Each of them failed, since the orchestrator is not
   * running.
   */
  restarts: readonly number[];
  /** Time when recovery stopped; it concerns this end unless it is earlier. */
  stoppedAt: number | null;
}

export interface RestartPlan {
  state: Recovery["state"];
  /** Null if it is not restored automatically. */
  dueAt: number | null;
}

export function planRestart(
  { deadSince, restarts, stoppedAt }: EndedOrchestrator,
  now: number,
): RestartPlan {
  const isGivenUp = stoppedAt !== null && stoppedAt >= deadSince;
  const recent = recentOf(restarts, now);
  if (isGivenUp || recent.length >= MAX_FAILURES) return { state: "stopped", dueAt: null };
  const last = recent.at(-1);
  if (last === undefined) return { state: "recovering", dueAt: deadSince + DEAD_MS };
  // A restart before this end worked for a while, so the grace period applies again. A restart
  // after it never came up, so only the pause applies.
  const notBefore = last < deadSince ? deadSince + DEAD_MS : 0;
  const pause = PAUSES_MS[Math.min(recent.length, PAUSES_MS.length) - 1] as number;
  return { state: "backoff", dueAt: Math.max(notBefore, last + pause) };
}

export function recentOf(restarts: readonly number[], now: number): number[] {
  return restarts.filter((at) => at > now - WINDOW_MS);
}
