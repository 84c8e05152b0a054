/**
 * Journal writes of a runner: batches of items, and with the last one the settlement of its run, or
 * that the run is parked. One fence check covers a batch; items that were appended before are left
 * out, so a batch may be sent again. Calls that ask for it are judged here, in the same
 * transaction.
 */
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import type { RunRow, SessionRow } from "#engine/schema.ts";
import { findPrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { keepSummary } from "#engine/sessions/queries.ts";
import { listTurnCalls } from "#engine/sessions/turns/turn-entries.ts";
import { addBounded, settleRun } from "#engine/sessions/turns/turns.ts";
import type { ToolPolicy } from "#engine/tools/index.ts";
import { findKnownAnswer } from "#engine/tools/queries.ts";
import { isHeldState, transitionRun } from "#engine/transitions/run-transitions.ts";
import { showMovedRun } from "#engine/transitions/session-transitions.ts";
import { command, type Engine, type SessionWriter, type Work } from "#engine/work.ts";
import { keepChanges, keepWorkspace } from "#engine/workspaces/record.ts";
import {
  errorCodeSchema,
  INTERRUPTED,
  type JournalItem,
  type Settlement,
} from "#protocol/events.ts";
import type { ExecutorBinding, Park } from "#protocol/frames.ts";
import { roughSize } from "#protocol/rough-size.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { claimFollowUps } from "../claims/claim.ts";
import type { ClaimContext } from "../claims/claim-run.ts";
import { sessionRequirements } from "../claims/fit.ts";
import { findRun, findRunAgain, saveRun } from "../queries.ts";
import { endingOf, requestStop } from "../request-stop.ts";
import { findRunner } from "../runners/runner-queries.ts";
import { isIsolatedRunner } from "../runners/runners.ts";
import { recheckCalls } from "./find-denials.ts";
import { draftOf, type PreTool } from "./journal-items.ts";
import { countModelCall, isCountedByServer } from "./model-calls.ts";
import { parkRun } from "./park.ts";
import { putOffSummary } from "./put-off-summary.ts";

const COMMAND_TOOL = "bash";
/** Several times what the limits of a turn let an honest runner write, over all attempts. */
const MAX_TURN_ITEMS = 20_000;
const MAX_TURN_CHARS = 128_000_000;

export interface Batch {
  run: string;
  fence: number;
  runnerId: string;
  firstOrdinal: number;
  items: readonly JournalItem[];
  bind?: ExecutorBinding | undefined;
  settle?: Settlement | undefined;
  park?: Park | undefined;
}

export type Journaled =
  | {
      ok: true;
      lastOrdinal: number;
      verdicts?: Record<string, Verdict>;
    }
  | { ok: false; code: "stale_fence" | "ordinal_gap" | "run_not_found" };

/** Writes a batch; `context` is the runner that may claim what the settlement makes ready. */
export function journal(
  engine: Engine,
  policy: ToolPolicy,
  batch: Batch,
  context?: ClaimContext,
): Promise<Journaled> {
  return command(engine, async (work) => {
    const found = await findRun(work.tx, batch.run);
    const session = found && (await lockFor(work, found, batch));
    const run = session && (await findRunAgain(work.tx, found));
    if (!session || !run) return { ok: false, code: "run_not_found" };
    const refused = refuse(run, batch);
    if (refused) return refused;
    const fresh = batch.items.slice(run.journaled + 1 - batch.firstOrdinal);
    countSize(run, fresh);
    const isBeyond = hasAskedBeyond(session.row, run, fresh);
    const verdicts = await apply({ work, session, run, policy }, fresh, batch);
    const lastOrdinal = run.journaled;
    if (isBeyond) await stopSpending(work, session, run, batch);
    await end(work, session, run, batch, context);
    return { ok: true, lastOrdinal, ...(verdicts ? { verdicts } : {}) };
  });
}

/** A lost or stopped turn is read again, so its journal must be bounded. */
function countSize(run: RunRow, fresh: readonly JournalItem[]): void {
  if (fresh.length === 0) return;
  run.turn_items += fresh.length;
  run.turn_chars = fresh.reduce((sum, item) => sum + roughSize(item), run.turn_chars);
  if (run.turn_items <= MAX_TURN_ITEMS && run.turn_chars <= MAX_TURN_CHARS) return;
  throw new Refusal(
    "limit",
    "journal_full",
    `A turn may write ${MAX_TURN_ITEMS} items and ${MAX_TURN_CHARS} characters to its journal. End the turn and continue in the next one.`,
  );
}

/** A parent is notified when a turn ends or stops to ask; other batches need not wait for its lock. */
function lockFor(work: Work, { session_id: id }: RunRow, { settle: settlement, park }: Batch) {
  return settlement || park ? work.sessionWithParent(id) : work.session(id);
}

/** True when a model was asked after the budget was spent. The gateway refuses that by itself. */
function hasAskedBeyond(
  { budget_micros, cost_micros }: SessionRow,
  run: RunRow,
  fresh: readonly JournalItem[],
): boolean {
  const isSpent = budget_micros !== null && cost_micros >= budget_micros;
  return isSpent && !isCountedByServer(run) && fresh.some(({ type }) => type === "model_call");
}

/**
 * Stops a run that asked a model with nothing left. The budget in its assignment is outdated when a
 * child was given a share meanwhile, or another thread has spent it.
 */
async function stopSpending(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  { settle: settlement, park }: Batch,
): Promise<void> {
  if (settlement || park || run.state === "stopping") return;
  await requestStop(work, session, run, "budget", null);
}

/** Ends or parks the run, if the batch says so; runs that became ready are claimed for the context. */
async function end(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  { settle: settlement, park }: Batch,
  context: ClaimContext | undefined,
): Promise<void> {
  if (park && !settlement) await parkRun(work, session, run, park);
  else if (!settlement) await saveRun(work.tx, run);
  else {
    await settle(work, session, run, settlement);
    if (context) await claimFollowUps(work, context);
  }
}

/** Answer to a batch that must not be applied; undefined when it may. */
function refuse(run: RunRow, batch: Batch): Journaled | undefined {
  if (run.fence !== batch.fence || run.runner_id !== batch.runnerId) {
    return { ok: false, code: "stale_fence" };
  }
  if (!isHeldState(run.state)) {
    // A repeated settlement finds its run ended under the same fence.
    const lastOrdinal = batch.firstOrdinal + batch.items.length - 1;
    const repeated = batch.settle !== undefined && lastOrdinal <= run.journaled;
    return repeated ? { ok: true, lastOrdinal: run.journaled } : { ok: false, code: "stale_fence" };
  }
  return batch.firstOrdinal > run.journaled + 1 ? { ok: false, code: "ordinal_gap" } : undefined;
}

interface Writing {
  work: Work;
  session: SessionWriter;
  run: RunRow;
  policy: ToolPolicy;
}

/** Returns the verdicts on calls of the batch that asked for one, if any did. */
async function apply(
  writing: Writing,
  fresh: readonly JournalItem[],
  { items, bind }: Batch,
): Promise<Record<string, Verdict> | undefined> {
  const { work, session, run } = writing;
  if (run.state === "claimed") {
    Object.assign(run, transitionRun(run, { type: "start", now: work.now }));
    Object.assign(session.row, showMovedRun(session.row, "claimed", "running"));
  }
  if (bind) await bindExecutor(work, session, run, bind);
  const given = fresh.length < items.length ? await earlierVerdicts(work, run, items) : {};
  const known = await callIdsBefore(writing, fresh);
  // The gateway has written its requests already.
  const isKept = ({ type }: JournalItem) => type !== "model_call" || !isCountedByServer(run);
  for (const sent of fresh.filter(isKept)) {
    const item = await withKnownAnswer(writing, sent);
    const verdict =
      item.type === "pre_tool" && item.authorise ? await judge(writing, item, known) : null;
    if (verdict && item.type === "pre_tool") given[item.callId] = verdict;
    session.record({
      ...draftOf(item, verdict ?? undefined),
      thread: run.thread,
      promptId: run.prompt_id,
      runId: run.id,
    });
    await consequences(writing, item);
  }
  const waiting = items.flatMap((item) => (item.type === "post_tool" ? (item.recheck ?? []) : []));
  Object.assign(given, await recheckCalls(work, session, run, new Set(waiting)));
  if (fresh.length > 0) run.progressed = 1;
  run.journaled += fresh.length;
  return Object.keys(given).length === 0 ? undefined : given;
}

/** A turn that is cut while the server performs a call does not get the result; the log has it. */
async function withKnownAnswer({ work, run }: Writing, item: JournalItem): Promise<JournalItem> {
  if (item.type !== "post_tool" || item.error !== INTERRUPTED) return item;
  const known = await findKnownAnswer(work.tx, run.prompt_id, cleanText(item.callId));
  return known ? { ...item, output: known.output, error: known.error } : item;
}

/** Ids of the turn's earlier calls: a decision belongs to an id, so none may be used twice. */
async function callIdsBefore(
  { work, run }: Writing,
  fresh: readonly JournalItem[],
): Promise<Set<string>> {
  if (!fresh.some((item) => item.type === "pre_tool" && item.authorise)) return new Set();
  const calls = await listTurnCalls(work.tx, spanOf(run));
  return new Set(
    calls.flatMap(({ type, call_id }) => (type === "pre_tool" ? [call_id ?? ""] : [])),
  );
}

function spanOf({ session_id: sessionId, first_seq: after, prompt_id: promptId }: RunRow) {
  return { sessionId, after, promptId };
}

const REPEATED_ID =
  "This call has the id of an earlier one, so it was not performed. Make it again with a new id.";

async function judge(
  { work, session, run, policy }: Writing,
  item: PreTool,
  known: Set<string>,
): Promise<Verdict> {
  const id = cleanText(item.callId);
  const verdict: Verdict = known.has(id)
    ? { verdict: "invalid", reason: REPEATED_ID }
    : await withPlace(work, run, item, await policy.judge(work, session, run, item));
  known.add(id);
  const call = { callId: item.callId, tool: item.tool, verdict: verdict.verdict };
  await work.emit({ type: "call_judged", session, run, call });
  return verdict;
}

/** Adds to the verdict on a command if its machine has a sandbox, for which it was judged. */
async function withPlace(
  work: Work,
  { runner_id }: RunRow,
  { tool }: PreTool,
  verdict: Verdict,
): Promise<Verdict> {
  const mayRun = verdict.verdict === "allow" || verdict.verdict === "ask";
  if (tool !== COMMAND_TOOL || !mayRun) return verdict;
  return { ...verdict, sandboxed: await isIsolatedRunner(work.tx, runner_id) };
}

/** Verdicts of a batch that was stored but whose answer was lost: it gets the same answer again. */
async function earlierVerdicts(
  work: Work,
  run: RunRow,
  items: readonly JournalItem[],
): Promise<Record<string, Verdict>> {
  if (!items.some((item) => item.type === "pre_tool" && item.authorise)) return {};
  const calls = await listTurnCalls(work.tx, spanOf(run));
  return Object.fromEntries(
    calls.flatMap(({ call_id, verdict }) =>
      call_id === null || verdict === null ? [] : [[call_id, JSON.parse(verdict) as Verdict]],
    ),
  );
}

async function consequences({ work, session, run }: Writing, item: JournalItem): Promise<void> {
  switch (item.type) {
    case "post_tool":
      run.worked_ms = addBounded(run.worked_ms, item.durationMs ?? 0);
      if (item.performed === false) return;
      return work.emit({
        type: "call_ended",
        session,
        run,
        call: {
          callId: item.callId,
          tool: item.tool,
          failed: item.error !== null,
          exitCode: item.exitCode ?? null,
          durationMs: item.durationMs ?? 0,
          inputChars: sizeOf(item.input),
          outputChars: sizeOf(item.output),
          truncated: item.truncated ?? false,
        },
      });
    case "model_call":
      countModelCall(session, run, item);
      return work.emit({ type: "model_called", session, run, call: item });
    case "context_summary":
      await keepSummary(work.tx, session.row.id, run.thread, cleanText(item.text), item.throughSeq);
      return;
    case "summary_failed":
      return putOffSummary(work.tx, session.row.id, run.thread);
    case "workspace_changed":
      return keepChanges(work, run, item);
    default:
  }
}

function sizeOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

async function bindExecutor(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  given: ExecutorBinding,
): Promise<void> {
  const { row } = session;
  const bind = cleanBinding(given);
  const before = boundTo(row);
  row.executor_session_id = bind.executorSessionId ?? row.executor_session_id;
  row.executor_type = bind.executorType;
  row.executor_profile = bind.executorProfile ?? row.executor_profile;
  await keepProjectDir(work, row, run, bind.projectDir);
  const isMoved =
    given.workspaceId !== undefined &&
    (await keepWorkspace(work, run, cleanText(given.workspaceId)));
  // A repeated batch binds what is bound already.
  if (!isMoved && boundTo(row) === before) return;
  session.record({
    type: "run_bound",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    data: { executorSessionId: bind.executorSessionId, executorType: bind.executorType },
  });
}

/**
 * Keeps the runner's folder as part of the session's place: later runs go to a runner of that
 * folder. It must be the folder the runner registered, so that it cannot send the session nowhere.
 */
async function keepProjectDir(
  work: Work,
  row: SessionRow,
  { runner_id }: RunRow,
  projectDir: string | null,
): Promise<void> {
  if (projectDir === null || row.project_dir !== null || runner_id === null) return;
  const runner = await findRunner(work.tx, runner_id);
  if (runner?.project_dir !== projectDir) return;
  row.demands = JSON.stringify({ ...sessionRequirements(row), projectDir });
}

function boundTo(row: SessionRow): string {
  const { executor_session_id, executor_type, executor_profile, demands } = row;
  return JSON.stringify([executor_session_id, executor_type, executor_profile, demands]);
}

function cleanBinding(given: ExecutorBinding): ExecutorBinding {
  const clean = (text: string | null) => (text === null ? null : cleanText(text));
  return {
    executorSessionId: clean(given.executorSessionId),
    executorType: cleanText(given.executorType),
    executorProfile: clean(given.executorProfile),
    projectDir: clean(given.projectDir),
  };
}

async function settle(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  settlement: Settlement,
): Promise<void> {
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  const { outcome, error, result, usage } = settlement;
  // A turn that was stopped for its budget fails for it, whatever its agent made of the refusals.
  const isSpent = run.stop_reason === "budget" && outcome !== "completed";
  const isAborted = outcome === "aborted" || outcome === "superseded";
  const cut = isSpent || (run.stop_reason !== null && isAborted);
  await settleRun(work, session, prompt, run, {
    outcome: outcome === "superseded" ? "aborted" : outcome,
    // The code must be one of ours, however it came, because it is shown as such.
    ...(error ? { error: { ...error, code: errorCodeSchema.parse(error.code) } } : {}),
    ...(result === undefined ? {} : { result }),
    ...(usage && !isCountedByServer(run) ? { usage } : {}),
    ...(cut ? endingOf(run.stop_reason, run.stop_by_prompt) : {}),
  });
}
