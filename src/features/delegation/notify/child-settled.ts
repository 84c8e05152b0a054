/**
 * Runs when a session's turn settles, inside the settling transaction: notifies the parent,
 * archives a completed session, removes a child whose workspace could not be cloned, and settles
 * budgets.
 */
import type { KernelEvent, PromptRow, RunRow, SessionWriter, Work } from "#engine/index.ts";
import { parseRunOptions } from "#engine/runs/index.ts";
import { endSession, findPrompt } from "#engine/sessions/index.ts";
import { returnBudget } from "../children/budget.ts";
import { isEnded } from "../children/lifecycle.ts";
import { muteChild } from "../children/link.ts";
import { purgeSoon } from "../children/purge-child.ts";
import type { WorkerEventPayload } from "../contract.ts";
import { findLink, findReplaced, saveLink } from "../queries.ts";
import type { LinkRow } from "../schema.ts";
import { deleteCompletion, findCompletion } from "../waits/wait-queries.ts";
import { eventOf } from "./events.ts";
import { notifyParent } from "./notify-parent.ts";
import { endOfPiece } from "./words.ts";

/** Limit of the child's last text in an event; the transcript has the rest. */
const MAX_TEXT_CHARS = 32_000;
const WITHDRAWN = "Somebody withdrew your prompt before it started.";
const CLEARED =
  "Its context was cleared: it no longer sees what was said before, and has nothing to do.";
const REPLACED_BY_NOTHING = "Somebody stopped it to have it do something else, then withdrew that.";

type Settled = Extract<KernelEvent, { type: "prompt_settled" }>;

export async function childSettled(work: Work, settled: Settled): Promise<void> {
  const { session, prompt, run } = settled;
  const { id, parent_session_id } = session.row;
  // A prompt without a run never started (withdrawn, merged, removed with its session). Only
  // "withdrawn" and "/clear", which completes without a run, concern the parent.
  if (!run && prompt.outcome !== "withdrawn" && prompt.outcome !== "completed") return;
  const link = parent_session_id === null ? undefined : await findLink(work.tx, id);
  const completion = run ? await findCompletion(work.tx, id, run.id) : undefined;
  const neverCloned = link !== undefined && isNeverCloned(session, prompt, link);
  if (link)
    await notifyParentOfEnd(work, settled, link, { summary: completion?.summary, neverCloned });
  if (link && prompt.outcome === "withdrawn")
    await notifyParentOfWithdrawnReplacement(work, settled, link);
  if (completion) await completeSession(work, session, prompt, link);
  if (link && neverCloned) await removeNeverCloned(work, session, link);
  if (link && isEnded(session.row)) await settleBudget(work, session);
}

interface EndingDetails {
  /** Summary given to complete_session. */
  summary: string | undefined;
  neverCloned: boolean;
}

async function notifyParentOfEnd(
  work: Work,
  { session, prompt, run }: Settled,
  link: LinkRow,
  { summary, neverCloned }: EndingDetails,
): Promise<void> {
  if (prompt.outcome === null || isStoppedByParent(prompt, link) || notifiesByCallback(prompt))
    return;
  const stoppedByParent = prompt.created_by === `session:${link.parent_session_id}`;
  if (!run && !stoppedByParent) return;
  const type = eventOf({
    outcome: prompt.outcome,
    code: prompt.error_code,
    isReplaced: await isReplaced(work, prompt, run),
    isEnded: isEnded(session.row),
    isStoppedByParent: stoppedByParent,
  });
  if (!type) return;
  const payload: WorkerEventPayload = {
    outcome: prompt.outcome,
    code: prompt.error_code,
    ...textOf(prompt, run, summary),
    promptId: prompt.id,
    ...(neverCloned && { isRemoved: true }),
  };
  await notifyParent(work, session, link, { type, payload, causeKey: `ended:${prompt.run_id}` });
}

/**
 * Notifies the parent of the end of an `async_callback` run through its inbox, like any other
 * ending. A run that never started or was removed with its session is reported too, because its
 * caller has the id and waits. Returns false if the inbox was not notified, so that the kernel
 * sends the callback.
 */
export async function callbackEnded(
  work: Work,
  { session, prompt, run }: Omit<Settled, "type">,
): Promise<boolean> {
  const { id, parent_session_id } = session.row;
  const link = parent_session_id === null ? undefined : await findLink(work.tx, id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent || parent.row.lifecycle === "terminated" || prompt.outcome === null)
    return false;
  const summary = run ? (await findCompletion(work.tx, id, run.id))?.summary : undefined;
  const hasEnded = prompt.outcome === "completed" || prompt.outcome === "failed";
  return notifyParent(work, session, link, {
    type: hasEnded ? "worker.ended" : "worker.stopped_without_end",
    payload: {
      outcome: prompt.outcome,
      code: prompt.error_code,
      ...textOf(prompt, run, summary),
      promptId: prompt.id,
    },
    causeKey: `ended:${prompt.run_id}`,
    isAwaited: true,
  });
}

/**
 * True if the parent stopped this turn and it did stop. A turn that ended otherwise is still
 * reported.
 */
function isStoppedByParent({ run_id, outcome }: PromptRow, { quiet_run }: LinkRow): boolean {
  return quiet_run === run_id && (outcome === "aborted" || outcome === "superseded");
}

/** True for `async_callback` runs, which `callbackEnded` reports whatever their outcome. */
function notifiesByCallback({ run_options }: PromptRow): boolean {
  return parseRunOptions(run_options).executionMode === "async_callback";
}

/**
 * True if the child continues with another prompt: one that is queued, running, or has had its own
 * turn.
 */
async function isReplaced(work: Work, prompt: PromptRow, run: RunRow | null): Promise<boolean> {
  const by = prompt.superseded_by ?? run?.stop_by_prompt ?? null;
  const next = by === null ? undefined : await findPrompt(work.tx, by);
  if (!next) return false;
  return next.state !== "settled" || next.started_at !== null || next.outcome === "merged";
}

/**
 * Reports a turn whose replacement was withdrawn before it started: the turn has now simply ended.
 */
async function notifyParentOfWithdrawnReplacement(
  work: Work,
  { session, prompt }: Settled,
  link: LinkRow,
): Promise<void> {
  // The withdrawal of the parent's own prompt is reported as such.
  const stoppedByParent = prompt.created_by === `session:${link.parent_session_id}`;
  const replaced = stoppedByParent ? undefined : await findReplaced(work.tx, prompt);
  if (!replaced || isEnded(session.row)) return;
  const isOver = replaced.outcome === "superseded" || replaced.outcome === "aborted";
  if (!isOver || isStoppedByParent(replaced, link) || notifiesByCallback(replaced)) return;
  const { error_code: code, id: promptId, run_id } = replaced;
  await notifyParent(work, session, link, {
    type: "worker.stopped_without_end",
    payload: { outcome: "aborted", code, text: REPLACED_BY_NOTHING, promptId },
    causeKey: `ended:${run_id}`,
  });
}

function textOf(prompt: PromptRow, run: RunRow | null, summary: string | undefined) {
  const text = summary ?? run?.result ?? prompt.error_message ?? (run ? "" : defaultText(prompt));
  const end = endOfPiece(text, MAX_TEXT_CHARS);
  const isCut = end < text.length;
  return { text: text.slice(0, end), isCut, ...(isCut && { length: text.length }) };
}

function defaultText({ outcome }: PromptRow): string {
  return outcome === "withdrawn" ? WITHDRAWN : CLEARED;
}

/** Completes a session whose completion was approved after its turn had settled. */
export async function completeNow(
  work: Work,
  session: SessionWriter,
  summary: string,
): Promise<boolean> {
  const { row } = session;
  if (row.waiting > 0 || isEnded(row)) return false;
  const link = await findLink(work.tx, row.id);
  if (link) {
    const payload = { outcome: "completed", code: null, text: summary, isCut: false } as const;
    const causeKey = `completed:${row.id}:${row.last_seq}`;
    await notifyParent(work, session, link, { type: "worker.ended", payload, causeKey });
    await muteChild(work, link);
  }
  await endSession(work, session, { to: "archived", force: true });
  return true;
}

/** Archives a completed session, unless more prompts arrived meanwhile. */
async function completeSession(
  work: Work,
  session: SessionWriter,
  { outcome }: PromptRow,
  link: LinkRow | undefined,
): Promise<void> {
  const { id, lifecycle, run_state, waiting } = session.row;
  const isOver = outcome === "completed" && run_state === null && waiting === 0;
  if (isOver && lifecycle === "active") {
    if (link) await muteChild(work, link);
    await endSession(work, session, { to: "archived", force: true });
  }
  // Deleted last: listeners on the archiving read the summary.
  await deleteCompletion(work.tx, id);
}

/**
 * True for an agent's child whose repository could not be cloned, so that nothing is left to
 * continue. A session that a person created or prompted is kept.
 */
function isNeverCloned({ row }: SessionWriter, prompt: PromptRow, link: LinkRow): boolean {
  const parent = `session:${link.parent_session_id}`;
  return (
    prompt.error_code === "workspace_clone_failed" &&
    row.prompts_total === 1 &&
    row.created_by === parent &&
    prompt.created_by === parent
  );
}

async function removeNeverCloned(work: Work, session: SessionWriter, link: LinkRow): Promise<void> {
  if (session.row.lifecycle === "terminated") return;
  await muteChild(work, link);
  await endSession(work, session, { to: "terminated", force: true });
  await purgeSoon(work, session.row);
}

/** Charges the cost of a last turn that settled after its session had ended. */
async function settleBudget(work: Work, session: SessionWriter): Promise<void> {
  if (session.row.budget_micros === null) return;
  const link = await findLink(work.tx, session.row.id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  returnBudget(parent.row, session.row, link);
  await saveLink(work.tx, link);
}
