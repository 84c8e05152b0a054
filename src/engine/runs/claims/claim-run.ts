/**
 * Claims one run: a fresh fence, a lease, and the assignment for its runner. A prompt enters the
 * session's history here, and not before.
 */

import type { PromptRow, RunnerRow, RunRow } from "#engine/schema.ts";
import { findPrompt, savePrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { transitionPrompt } from "#engine/transitions/prompt-transitions.ts";
import { mayTransitionRun, transitionRun } from "#engine/transitions/run-transitions.ts";
import { showMovedRun } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { Assignment } from "#protocol/frames.ts";
import { findRun, saveRunAndLease } from "../queries.ts";
import { addMaterial, authorOf, buildAssignment, type TurnConfig } from "./assignment.ts";
import type { RunnerCapabilities } from "./fit.ts";

export interface ClaimContext {
  runner: RunnerRow;
  capabilities: RunnerCapabilities;
  free: number;
  config: TurnConfig;
  /** Runtimes of the runner that get their material with the assignment. */
  readers: ReadonlySet<string>;
  /** Sends a claimed run to the runner, once the claim is durable and before it is announced. */
  assign(assignment: Assignment): void;
}

/** Claims a run; false when it may not be claimed any more. */
export async function claimRun(
  work: Work,
  runId: string,
  sessionId: string,
  context: ClaimContext,
): Promise<boolean> {
  const { runner, config, readers } = context;
  const session = await work.session(sessionId);
  const run = await findRun(work.tx, runId);
  const prompt = run && (await findPrompt(work.tx, run.prompt_id));
  if (!session || !run || !prompt || session.row.lifecycle !== "active") return false;
  const claim = { type: "claim", runner, serverId: work.serverId, now: work.now } as const;
  if (!mayTransitionRun(run, claim)) return false;

  Object.assign(run, transitionRun(run, claim));
  run.progressed = 0;
  run.journaled = 0;
  run.lost_runner_id = null;
  const notBegun = callsNotBegun(run);
  run.pause = null;
  run.model = session.row.model;
  const resumes = prompt.started_at !== null;
  if (!resumes) enterHistory(work, session, prompt, run);
  prompt.attempts = run.attempts;
  bindToRunner(session, run, runner);
  session.record({
    type: "run_claimed",
    thread: run.thread,
    promptId: prompt.id,
    runId: run.id,
    data: { runnerId: runner.id, fence: run.fence, attempt: run.attempts },
  });
  await savePrompt(work.tx, prompt);
  await saveRunAndLease(work.tx, run);
  if (!resumes) await work.emit({ type: "prompt_started", session, prompt });
  const assignment = await buildAssignment({ work, session, prompt, run, config, resumes });
  if (notBegun) assignment.notBegun = notBegun;
  if (readers.has(run.runtime)) addMaterial(work, assignment, { session, run, prompt }, config);
  work.tx.afterCommit(() => context.assign(assignment));
  return true;
}

/**
 * Calls that the paused attempt did not begin. Only the next attempt gets them: a later one cannot
 * know if that attempt had begun them.
 */
function callsNotBegun({ pause }: RunRow): string[] | undefined {
  return pause === null ? undefined : (JSON.parse(pause) as { notBegun?: string[] }).notBegun;
}

function enterHistory(work: Work, session: SessionWriter, prompt: PromptRow, run: RunRow): void {
  session.row.waiting -= 1;
  Object.assign(prompt, transitionPrompt(prompt, { type: "start", now: work.now }));
  const { row } = session;
  if (row.started === 0) {
    row.started = 1;
    session.record({
      type: "session_start",
      thread: run.thread,
      promptId: prompt.id,
      runId: run.id,
    });
  }
  // A turn that continues after a loss or a pause resumes nothing: the session was never at rest.
  if (row.executor_type !== null) row.last_resumed_at = work.now;
  session.record({
    type: "message",
    thread: prompt.thread,
    promptId: prompt.id,
    runId: run.id,
    entryId: `ent_${prompt.id.slice(4)}`,
    kind: "prompt",
    role: "user",
    content: [{ type: "text", text: prompt.content }],
    data: {
      author: authorOf(prompt),
      attachments: JSON.parse(prompt.attachments),
      ...(prompt.notice === null ? {} : { notice: JSON.parse(prompt.notice) }),
    },
  });
  run.first_seq = session.row.last_seq;
}

function bindToRunner(session: SessionWriter, run: RunRow, runner: RunnerRow): void {
  const { row } = session;
  row.hostname = runner.hostname;
  row.executor_type = run.runtime;
  row.executor_profile = runner.profile;
  // A folder that nobody granted is the folder of the session's present runner: a folder of another
  // runner must not be opened on this one.
  if (row.repo === null && row.may_use_path === 0) row.project_dir = runner.project_dir;
  Object.assign(row, showMovedRun(row, "pending", "claimed"));
}
