/**
 * Handles a run whose runner is gone: it is tried again, or, when that is hopeless, ended with a
 * reason.
 */
import type { RunRow } from "#engine/schema.ts";
import { findPrompt, savePrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { answerOpenCalls } from "#engine/sessions/turns/cut-turn.ts";
import { showRunState } from "#engine/sessions/turns/run-state.ts";
import { settleRun } from "#engine/sessions/turns/turns.ts";
import { transitionPrompt } from "#engine/transitions/prompt-transitions.ts";
import { transitionRun } from "#engine/transitions/run-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { saveRunAndLease } from "../queries.ts";
import { endingOf } from "../request-stop.ts";
import { afterLoss, type Blame } from "./attempts.ts";
import type { LossReason } from "./loss-evidence.ts";

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
  await work.emit({ type: "run_lost", session, run, reason });
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  if (run.stop_reason !== null) {
    // The run was asked to stop before it was lost.
    await answerOpenCalls(work, session, run);
    await settleRun(work, session, prompt, run, endingOf(run.stop_reason, run.stop_by_prompt));
    return;
  }
  const { strikes, blameless } = run;
  const progressed = run.progressed === 1;
  const next = afterLoss({ strikes, blameless, progressed, blame: blameFor(work, run, reason) });
  const attempt = { run: run.id, fence: run.fence };
  work.tx.afterCommit(() => work.evidence.forget(attempt));
  run.strikes = next.strikes;
  run.blameless = next.blameless;
  if (next.kind === "give_up") {
    await answerOpenCalls(work, session, run);
    await settleRun(work, session, prompt, run, {
      outcome: "failed",
      error: {
        code: "attempts_exhausted",
        message: `The runner was lost ${run.attempts} times while working on this prompt, so it was given up. Check the runner's log, then send it again.`,
      },
    });
    return;
  }
  if (prompt.state === "gated") {
    Object.assign(prompt, transitionPrompt(prompt, { type: "resume" }));
    await savePrompt(work.tx, prompt);
  }
  run.lost_runner_id = reason === "lease_expired" ? run.runner_id : null;
  Object.assign(run, transitionRun(run, { type: "lose" }));
  run.available_at = work.now + next.backoffMs;
  await saveRunAndLease(work.tx, run);
  await showRunState(work, session, run);
  if (next.backoffMs === 0) work.tx.afterCommit(() => work.announcer.runsReady());
}

function blameFor(work: Work, run: RunRow, reason: LossReason): Blame {
  if (reason === "released") return "none";
  if (reason === "runner_revoked" || reason === "relocated") return "machine";
  if (run.server_boot !== work.serverId) return "machine";
  const isCleared = work.evidence.clears({ run: run.id, fence: run.fence }, run.runner_boot);
  return isCleared ? "machine" : "prompt";
}
