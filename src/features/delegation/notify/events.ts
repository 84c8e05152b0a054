/** Which end of a child's turn is what event to its parent; pure. */
import type { Outcome } from "#protocol/sessions.ts";
import type { WorkerEventType } from "../contract.ts";

/** The provider was asked again and again, and did not answer. */
const RETRIED_IN_VAIN: ReadonlySet<string> = new Set([
  "model_quota_exhausted",
  "model_rate_limited",
  "model_silent",
  "model_stream_broken",
  "model_unavailable",
]);

/** Nothing the child did: the machine or the way to it was lost. */
const LOST: ReadonlySet<string> = new Set([
  "attempts_exhausted",
  "no_matching_runner",
  "workspace_offline",
]);

export interface TurnEnding {
  outcome: Outcome;
  code: string | null;
  /** Another prompt took its place, and was not taken back. */
  isReplaced: boolean;
  /** The session itself has been ended, which its parent knows of or is told of. */
  isGone: boolean;
  /** Its parent had asked for it, and waits to hear of it. */
  isParents: boolean;
}

/** Null: no news; the child goes on with something else, or nobody waits to hear of it. */
export function eventOf(ending: TurnEnding): WorkerEventType | null {
  const { outcome, code, isReplaced, isGone, isParents } = ending;
  switch (outcome) {
    case "completed":
      return "worker.ended";
    case "failed":
      if (code !== null && RETRIED_IN_VAIN.has(code)) return "worker.auto_retry_failed";
      return code !== null && LOST.has(code) ? "worker.stopped_without_end" : "worker.ended";
    case "aborted":
    case "superseded":
      // A turn that is cut by the end of its session is told besides that end.
      return isReplaced ? null : "worker.stopped_without_end";
    case "withdrawn":
      return isParents && !isGone ? "worker.stopped_without_end" : null;
    default:
      return null;
  }
}
