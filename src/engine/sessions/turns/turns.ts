/**
 * Begin and end of turns. `pump` gives the next prompt its run when nothing stands in its way;
 * every command that may have freed a place calls it in the same transaction, and calling it once
 * too often does nothing. `settleRun` and `settlePrompt` end a prompt: exactly one outcome, and in
 * the same transaction every consequence inside the database.
 */
import { cleanText } from "#base/text/clean-text.ts";
import { withdrawGates } from "#engine/gates/gates.ts";
import {
  type RunRequirements,
  requirementsKey,
  sessionRequirements,
} from "#engine/runs/claims/fit.ts";
import { folderRequirements } from "#engine/runs/claims/folder-requirements.ts";
import { insertRun, listLiveRuns, saveRunAndLease } from "#engine/runs/queries.ts";
import { parseRunOptions } from "#engine/runs/run-options.ts";
import type { PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import { isWaiting, transitionPrompt } from "#engine/transitions/prompt-transitions.ts";
import { createdRun, endStateOf, transitionRun } from "#engine/transitions/run-transitions.ts";
import { showLastTurn, showLiveRuns } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { findWorkspace } from "#engine/workspaces/queries.ts";
import type { RunnerRequirements } from "#protocol/runs.ts";
import type { Outcome } from "#protocol/sessions.ts";
import { clearContext, isClear } from "../prompts/clear-context.ts";
import { listWaiting, nextQueued, savePrompt } from "../prompts/prompt-queries.ts";

/** Starts what can start; `newest` is the prompt that was queued last, if that has just been done. */
export async function pump(
  work: Work,
  session: SessionWriter,
  live?: readonly RunRow[],
  newest?: PromptRow,
): Promise<void> {
  const { row } = session;
  const running = live ?? (row.run_state === null ? [] : await listLiveRuns(work.tx, row.id));
  const started =
    row.lifecycle === "active" && row.waiting > 0
      ? await startWaiting(work, session, running, row.waiting === 1 ? newest : undefined)
      : [];
  Object.assign(row, showLiveRuns([...running, ...started].map((run) => run.state)));
}

async function startWaiting(
  work: Work,
  session: SessionWriter,
  running: readonly RunRow[],
  onlyOne: PromptRow | undefined,
): Promise<RunRow[]> {
  const { row } = session;
  if (row.exclusive === 1) {
    if (running.length > 0) return [];
    const run = await startNext(work, session, null, onlyOne);
    return run ? [run] : [];
  }
  const started: RunRow[] = [];
  const busy = new Set(running.map((run) => run.thread));
  for (const thread of await threadsWaiting(work, row, busy)) {
    const run = await startNext(work, session, thread);
    if (run) started.push(run);
  }
  return started;
}

async function threadsWaiting(
  work: Work,
  row: SessionRow,
  busy: ReadonlySet<string>,
): Promise<string[]> {
  const waiting = await listWaiting(work.tx, row.id);
  return [...new Set(waiting.map((prompt) => prompt.thread))].filter((thread) => !busy.has(thread));
}

async function startNext(
  work: Work,
  session: SessionWriter,
  thread: string | null,
  onlyOne?: PromptRow,
): Promise<RunRow | undefined> {
  if (onlyOne && !isClear(onlyOne.content)) return start(work, session, onlyOne);
  for (;;) {
    const prompt = await nextQueued(work.tx, session.row.id, thread);
    if (!prompt) return undefined;
    if (!isClear(prompt.content)) return start(work, session, prompt);
    // A clear needs no agent, so it is done here, when its turn has come.
    await clearContext(work, session, prompt.thread);
    await settlePrompt(work, session, prompt, null, { outcome: "completed" });
  }
}

async function start(work: Work, session: SessionWriter, prompt: PromptRow): Promise<RunRow> {
  // A session with files on a machine works on that machine.
  const workspace = session.isNew ? undefined : await findWorkspace(work.tx, session.row.id);
  const isHeld = workspace?.left_at === null;
  const pinned = isHeld ? workspace.runner_id : null;
  const folder = pinned === null ? await folderRequirements(work, session.row) : {};
  const run = newRun(work, session.row, prompt, pinned, folder);
  await insertRun(work.tx, run);
  work.newRuns.push(run);
  session.record({ type: "run_created", thread: run.thread, promptId: prompt.id, runId: run.id });
  return run;
}

function newRun(
  work: Work,
  session: SessionRow,
  prompt: PromptRow,
  pinnedRunnerId: string | null,
  folder: RunnerRequirements,
): RunRow {
  const options = parseRunOptions(prompt.run_options);
  // The requirements of the session's first run hold for later prompts; a run may require more.
  const demands = { ...folder, ...sessionRequirements(session), ...options.demands };
  const requirements: RunRequirements = {
    orgId: session.org_id,
    ownerId: session.owner_id,
    runtime: session.runtime,
    demands,
    pinnedRunnerId,
  };
  return {
    id: prompt.run_id,
    org_id: session.org_id,
    owner_id: session.owner_id,
    created_by: prompt.created_by,
    session_id: session.id,
    thread: prompt.thread,
    prompt_id: prompt.id,
    type: options.type,
    ...createdRun(),
    execution_mode: options.executionMode,
    runtime: session.runtime,
    agent_name: options.agentName ?? session.agent_name,
    demands: JSON.stringify(demands),
    demand_key: requirementsKey(requirements),
    exclusive: session.exclusive,
    pinned_runner_id: pinnedRunnerId,
    strikes: 0,
    blameless: 0,
    lost_runner_id: null,
    progressed: 0,
    journaled: 0,
    turn_items: 0,
    turn_chars: 0,
    first_seq: 0,
    stop_reason: null,
    stop_by: null,
    stop_by_prompt: null,
    pause: null,
    worked_ms: 0,
    unpriced: 0,
    model: null,
    metered_fence: 0,
    model_stop: null,
    error_code: null,
    error_message: null,
    result: null,
    input_tokens: 0,
    output_tokens: 0,
    cost_micros: null,
    ready_at: work.now,
    available_at: work.now,
    created_at: work.now,
  };
}

export interface Ending {
  outcome: Outcome;
  error?: { code: string; message: string };
  result?: string;
  usage?: { inputTokens: number; outputTokens: number; costMicros: number | null };
  supersededBy?: string;
  mergedInto?: string;
  /** Gate of the question that the prompt answered. */
  answeredGate?: string;
}

/** Ends a prompt that has a run, and starts the next in the queue. */
export async function settleRun(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  run: RunRow,
  ending: Ending,
): Promise<void> {
  const { outcome } = ending;
  Object.assign(run, transitionRun(run, { type: "settle", outcome, now: work.now }));
  run.error_code = clean(ending.error?.code);
  run.error_message = clean(ending.error?.message);
  run.result = await resultOf(work, session, run, ending);
  if (ending.usage) addUsage(session, run, ending.usage);
  await saveRunAndLease(work.tx, run);
  session.record({
    type: "run_settled",
    thread: run.thread,
    promptId: prompt.id,
    runId: run.id,
    reason: outcome,
    data: { state: run.state, attempts: run.attempts },
  });
  await withdrawGates(work, session, prompt.id);
  const error = { code: run.error_code, message: run.error_message };
  Object.assign(session.row, showLastTurn(outcome, error));
  await settlePrompt(work, session, prompt, run, ending);
}

async function resultOf(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  { outcome, result }: Ending,
): Promise<string | null> {
  const answer = { result: clean(result) };
  if (outcome === "completed") await work.emit({ type: "run_settling", session, run, answer });
  return answer.result;
}

/** Ends a prompt, with or without a run. */
export async function settlePrompt(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  run: RunRow | null,
  ending: Ending,
): Promise<void> {
  if (isWaiting(prompt)) session.row.waiting -= 1;
  const { outcome, supersededBy, mergedInto } = ending;
  const settled = { type: "settle", outcome, supersededBy, mergedInto, now: work.now } as const;
  Object.assign(prompt, transitionPrompt(prompt, settled));
  prompt.error_code = clean(ending.error?.code);
  prompt.error_message = clean(ending.error?.message);
  if (ending.outcome !== "completed") prompt.ended_waiting_for = null;
  await savePrompt(work.tx, prompt);
  session.record({
    type: "prompt_settled",
    thread: prompt.thread,
    promptId: prompt.id,
    runId: run?.id ?? null,
    reason: outcome,
    error: ending.error?.message ?? null,
    data: {
      outcome,
      code: ending.error?.code ?? null,
      mergedInto: prompt.merged_into,
      supersededBy: prompt.superseded_by,
      ...(ending.answeredGate === undefined ? {} : { answeredGate: ending.answeredGate }),
    },
  });
  if (run) {
    await pump(work, session, session.row.exclusive === 1 ? [] : undefined);
    endSessionStart(session, { prompt, runId: run.id, outcome });
  }
  await work.emit({ type: "prompt_settled", session, prompt, run });
}

interface LastTurn {
  prompt: PromptRow;
  runId: string | null;
  outcome: Outcome;
}

/** Ends the `session_start` of a session that has come to rest. The run state must be up to date. */
export function endSessionStart(
  session: SessionWriter,
  { prompt, runId, outcome }: LastTurn,
): void {
  const { row } = session;
  if (row.run_state !== null || row.started === 0) return;
  row.started = 0;
  session.record({
    type: "session_stop",
    thread: prompt.thread,
    promptId: prompt.id,
    runId,
    exitCode: outcome === "completed" ? 0 : 1,
    reason: endStateOf(outcome),
  });
}

/** Adds the cost of a run's priced requests; an unpriced request makes the session's cost unknown. */
export function addUsage(
  session: SessionWriter,
  run: RunRow,
  usage: NonNullable<Ending["usage"]>,
): void {
  run.input_tokens = addBounded(run.input_tokens, usage.inputTokens);
  run.output_tokens = addBounded(run.output_tokens, usage.outputTokens);
  if (usage.costMicros === null) {
    run.unpriced = 1;
    session.row.cost_unknown = 1;
    return;
  }
  run.cost_micros = addBounded(run.cost_micros ?? 0, usage.costMicros);
  session.row.cost_micros = addBounded(session.row.cost_micros, usage.costMicros);
}

/** Adds to a sum that only grows, and stays a number that both databases hold exactly. */
export function addBounded(sum: number, more: number): number {
  const counted = Number.isFinite(more) && more > 0 ? Math.round(more) : 0;
  return Math.min(sum + counted, Number.MAX_SAFE_INTEGER);
}

/** Output of a runner may hold characters that a database cannot store. */
const clean = (text: string | undefined) => (text === undefined ? null : cleanText(text));
