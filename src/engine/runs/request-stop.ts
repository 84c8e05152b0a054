/**
 * Asks a held run to end: its runner is told, and the run ends when the runner reports it, or when
 * the lease is gone.
 */
import { BUDGET_SPENT } from "#protocol/budget-words.ts";
import type { CancelReason } from "#protocol/frames.ts";
import type { RunRow } from "../schema.ts";
import { showRunState } from "../sessions/turns/run-state.ts";
import type { Ending } from "../sessions/turns/turns.ts";
import { transitionRun } from "../transitions/run-transitions.ts";
import type { SessionWriter, Work } from "../work.ts";
import { saveRun } from "./queries.ts";

export const STEER_GRACE_MS = 10_000;
export const STOP_GRACE_MS = 5_000;

/**
 * Requests a stop. `by` is the prompt that cuts this one, for steer and interrupt. The run must be
 * held.
 */
export async function requestStop(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  reason: CancelReason,
  by: string | null,
): Promise<void> {
  const graceMs = graceFor(reason);
  Object.assign(run, transitionRun(run, { type: "stop" }));
  run.stop_reason = reason;
  run.stop_by = work.now + graceMs;
  run.stop_by_prompt = by;
  await saveRun(work.tx, run);
  await showRunState(work, session, run);
  session.record({
    type: "run_stopping",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    reason,
    data: by === null ? {} : { by },
  });
  const { runner_id: runnerId, id, fence } = run;
  if (runnerId === null) return;
  work.tx.afterCommit(() => work.announcer.cancel({ runnerId, run: id, fence, reason, graceMs }));
}

export function graceFor(reason: CancelReason): number {
  if (reason === "interrupt") return 0;
  return reason === "steer" ? STEER_GRACE_MS : STOP_GRACE_MS;
}

/** Ending of a turn that was cut; `by` is the prompt that cut it. */
export function endingOf(reason: string | null, by: string | null): Ending {
  if (reason === "budget") return { outcome: "failed", error: BUDGET_EXHAUSTED };
  return {
    outcome: reason === "steer" ? "superseded" : "aborted",
    ...(by === null ? {} : { supersededBy: by }),
  };
}

const BUDGET_EXHAUSTED = {
  code: "budget_exhausted",
  message: BUDGET_SPENT,
};
