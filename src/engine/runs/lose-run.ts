/** A run whose runner is gone: it is tried again, or, when that is hopeless, ended with a reason. */
import type { RunRow } from "../schema.ts";
import { answerOpenCalls } from "../sessions/cut-turn.ts";
import { findPrompt, savePrompt } from "../sessions/prompt-queries.ts";
import { showRunState } from "../sessions/run-state.ts";
import { settleRun } from "../sessions/turns.ts";
import type { SessionWriter, Work } from "../work.ts";
import { afterLoss } from "./attempts.ts";
import { saveRunAndLease } from "./queries.ts";
import { endingOf } from "./request-stop.ts";

export type LossReason = "lease_expired" | "runner_restarted" | "released";

/** The session must be locked and the run read under that lock. */
export async function loseRun(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  reason: LossReason,
): Promise<void> {
  session.record({
    type: "run_lost",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    reason,
    data: { runnerId: run.runner_id, fence: run.fence, attempt: run.attempts },
  });
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  if (run.stop_reason !== null) {
    // It was to be ended anyway.
    await answerOpenCalls(work, session, run);
    await settleRun(work, session, prompt, run, endingOf(run.stop_reason, run.stop_by_prompt));
    return;
  }
  const blameless = reason === "released" || run.server_boot !== work.serverId;
  const next = afterLoss({
    attempts: run.attempts,
    strikes: run.strikes,
    progressed: run.progressed === 1,
    blameless,
  });
  run.strikes = next.strikes;
  if (next.kind === "give_up") {
    await answerOpenCalls(work, session, run);
    await settleRun(work, session, prompt, run, {
      outcome: "failed",
      error: {
        code: "attempts_exhausted",
        message: `The runner was lost ${run.attempts} times while working on this prompt, so it was put aside. Look at the runner's log, then send it again.`,
      },
    });
    return;
  }
  if (prompt.state === "gated") {
    prompt.state = "running";
    await savePrompt(work.tx, prompt);
  }
  run.state = "pending";
  run.lease_until = null;
  run.runner_id = null;
  run.available_at = work.now + next.backoffMs;
  await saveRunAndLease(work.tx, run);
  await showRunState(work, session, run);
  if (next.backoffMs === 0) work.tx.afterCommit(() => work.announcer.runsReady());
}
