/** Maps the end of a child's turn to an event for its parent; pure. */
import type { Outcome } from "#protocol/sessions.ts";
import type { WorkerEventType } from "../contract.ts";

/** Errors of a provider that did not answer after several retries. */
const RETRIED_IN_VAIN: ReadonlySet<string> = new Set([
  "model_quota_exhausted",
  "model_rate_limited",
  "model_silent",
  "model_stream_broken",
  "model_unavailable",
]);

/** Errors outside the child: the machine or the connection to it was lost. */
const LOST: ReadonlySet<string> = new Set([
  "attempts_exhausted",
  "no_matching_runner",
  "workspace_offline",
]);

export interface TurnEnding {
  outcome: Outcome;
  code: string | null;
  /** True if another prompt replaced this one and was not withdrawn. */
  isReplaced: boolean;
  /** True if the session has ended, which the parent did itself or is notified of. */
  isEnded: boolean;
  /** True if the parent sent the prompt and waits for its end. */
  isStoppedByParent: boolean;
}

/**
 * Null if there is nothing to report: the child continues with another prompt, or nobody waits for
 * this one.
 */
export function eventOf(ending: TurnEnding): WorkerEventType | null {
  const { outcome, code, isReplaced, isEnded, isStoppedByParent } = ending;
  switch (outcome) {
    case "completed":
      return "worker.ended";
    case "failed":
      if (code !== null && RETRIED_IN_VAIN.has(code)) return "worker.auto_retry_failed";
      return code !== null && LOST.has(code) ? "worker.stopped_without_end" : "worker.ended";
    case "aborted":
    case "superseded":
      // A turn that the end of its session stopped is reported in addition to that end.
      return isReplaced ? null : "worker.stopped_without_end";
    case "withdrawn":
      return isStoppedByParent && !isEnded ? "worker.stopped_without_end" : null;
    default:
      return null;
  }
}
