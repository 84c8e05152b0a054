/**
 * Removes the content of one entry from the log for good; its place and seq stay. The copies that
 * the kernel keeps go with it: the prompt, the run's result, a tool's kept answer, what a gate
 * showed, and a summary that was made of it. Features remove their copies on the event. Copies sent
 * to other agents are in their own sessions, and are redacted there. Diffs of the workspace stay.
 */

import { notFound, Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import { stringsIn } from "#base/text/quoted-text.ts";
import type { GateDecision } from "#engine/gates/decision.ts";
import { findGateByCall, redactGate } from "#engine/gates/queries.ts";
import {
  may,
  type Principal,
  principalKey,
  requireSignedIn,
  sessionResource,
} from "#engine/requests/principal.ts";
import { findRun, saveRun } from "#engine/runs/queries.ts";
import type { EventRow, SessionRow } from "#engine/schema.ts";
import { forgetToolResult } from "#engine/tools/queries.ts";
import { command, type Engine, type SessionWriter, type Work } from "#engine/work.ts";
import { redactPrompt } from "../prompts/prompt-queries.ts";
import { findThread, resetContext } from "../queries.ts";
import { listCallsOfPrompt, listEntryRows, saveRedacted } from "./event-queries.ts";
import { REMOVED } from "./event-view.ts";

/** Notices to the owner in the session itself; an admin must not be able to remove them. */
const KEPT_NOTICES: ReadonlySet<string> = new Set(["opened_by_admin"]);

/** Redacts an entry and the other half of the same call. Returns the ids of all entries it blanked. */
export function redactEntry(
  engine: Engine,
  principal: Principal,
  sessionId: string,
  entryId: string,
): Promise<string[]> {
  return command(engine, async (work) => {
    const session = await lockToRedact(work, principal, sessionId, "session");
    const rows = await rowsOf(work, sessionId, entryId);
    const [first] = rows;
    if (!first) throw notFound("entry");
    if (KEPT_NOTICES.has(first.reason ?? "")) throw mustStay();
    const fresh = rows.filter(({ redacted_at }) => redacted_at === null);
    const ids = [...new Set(rows.map(({ entry_id }) => entry_id as string))];
    if (fresh.length === 0) return ids;
    requireAtRest(session.row);
    for (const row of fresh) await blank(work, row);
    await forgetContext(work, session, first);
    const by = principalKey(principal);
    session.record({
      type: "session_updated",
      reason: "entry_redacted",
      data: { entryIds: ids, by },
    });
    const words = fresh.flatMap(wordsOf);
    const kind = first.kind ?? "notice";
    await work.emit({ type: "entry_redacted", session, by, entryId, kind, words });
    return ids;
  });
}

/** Locks the session of something to be redacted; a refusal names `what`. */
export async function lockToRedact(
  work: Work,
  principal: Principal,
  sessionId: string,
  what: "session" | "prompt",
): Promise<SessionWriter> {
  // Locks the parent too, which may have been notified of the content.
  const session = await work.sessionWithParent(sessionId);
  if (!session || !mayRedact(principal, session.row)) throw notFound(what);
  requireSignedIn(principal, "Removing content");
  return session;
}

/** True for the session's owner, and for admins, who need not be able to read it. */
function mayRedact(principal: Principal, row: SessionRow): boolean {
  if (principal.kind !== "user") return false;
  if (may(principal, "session.manage", sessionResource(row))) return true;
  return may(principal, "session.oversee", { orgId: row.org_id });
}

/** A running turn holds the words in memory, and would write them down again. */
function requireAtRest({ run_state }: SessionRow): void {
  if (run_state === null) return;
  throw busy(
    "This session is working and has the entry in its context. Stop its turn first, then remove the entry.",
  );
}

function busy(words: string): Refusal {
  return new Refusal("conflict", "session_busy", words);
}

function mustStay(): Refusal {
  return new Refusal(
    "conflict",
    "entry_not_redactable",
    "This notice records who has read the session, so it stays. Choose an entry that somebody wrote.",
  );
}

function wordsOf({ content, tool_input, tool_output, error }: EventRow): string[] {
  return [content, tool_input, tool_output]
    .flatMap((json) => (json === null ? [] : stringsIn(JSON.parse(json))))
    .concat(error ?? []);
}

/** Rows of both halves of a call: its result repeats the input. */
async function rowsOf(work: Work, sessionId: string, entryId: string): Promise<EventRow[]> {
  const rows = await listEntryRows(work.tx, sessionId, entryId);
  const call = rows.find(({ type }) => type === "pre_tool" || type === "post_tool");
  if (!call?.prompt_id) return rows;
  const callId = callIdOf(call);
  const others = await listCallsOfPrompt(work.tx, sessionId, call.prompt_id);
  return [...rows, ...others.filter((row) => callIdOf(row) === callId && !hasSeq(rows, row.seq))];
}

const hasSeq = (rows: readonly EventRow[], seq: number) => rows.some((row) => row.seq === seq);

function callIdOf({ data }: EventRow): string | undefined {
  return (JSON.parse(data ?? "{}") as { callId?: string }).callId;
}

async function blank(work: Work, row: EventRow): Promise<void> {
  const isCall = row.type === "pre_tool" || row.type === "post_tool";
  await saveRedacted(work.tx, {
    session_id: row.session_id,
    seq: row.seq,
    content: row.content === null ? null : JSON.stringify([{ type: "text", text: REMOVED }]),
    tool_input: row.tool_input === null ? null : "{}",
    tool_output: row.tool_output === null ? null : JSON.stringify(REMOVED),
    error: row.error === null ? null : REMOVED,
    data: row.data === null ? null : JSON.stringify(factsOf(row.data)),
    redacted_at: work.now,
  });
  const { session_id: sessionId, prompt_id: promptId } = row;
  if (row.kind === "prompt" && promptId)
    await redactPrompt(work.tx, { sessionId, id: promptId, text: REMOVED });
  if (row.run_id) await blankResult(work, row.run_id, row);
  const callId = isCall ? callIdOf(row) : undefined;
  if (callId !== undefined && promptId) await blankCall(work, promptId, callId);
}

/** Fields of a call that a model's history needs, free of anybody's words. */
const FACTS: ReadonlySet<string> = new Set([
  ...["step", "callId", "durationMs", "truncated", "endsTurn", "partial", "forModel", "author"],
]);

function factsOf(data: string): Record<string, unknown> {
  const { verdict, ...rest } = JSON.parse(data) as { verdict?: { verdict: string } };
  const kept = Object.entries(rest).filter(([name]) => FACTS.has(name));
  const judged = verdict ? { verdict: { verdict: verdict.verdict, reason: null } } : {};
  return { ...Object.fromEntries(kept), ...judged };
}

/**
 * Blanks a run's result. It holds the last text and forwarded notices, so any text or notice may be
 * part of it; or it is the result that an agent gave by a call.
 */
async function blankResult(work: Work, runId: string, row: EventRow): Promise<void> {
  const run = await findRun(work.tx, runId);
  if (run?.result == null) return;
  const isSaid = row.kind === "text" || row.kind === "notice";
  if (!isSaid && !wordsOf(row).some((words) => cleanText(words) === run.result)) return;
  run.result = REMOVED;
  await saveRun(work.tx, run);
}

async function blankCall(work: Work, promptId: string, callId: string): Promise<void> {
  await forgetToolResult(work.tx, promptId, callId);
  const gate = await findGateByCall(work.tx, promptId, callId);
  if (!gate) return;
  // A pending gate shows what will be performed, so it must stay as it is.
  if (gate.state === "pending") throw busy("This call has a pending approval. Decide it first.");
  const decision = gate.decision === null ? null : (JSON.parse(gate.decision) as GateDecision);
  if (decision?.promptId !== undefined)
    await redactPrompt(work.tx, {
      sessionId: gate.session_id,
      id: decision.promptId,
      text: REMOVED,
    });
  await redactGate(work.tx, {
    id: gate.id,
    shown: JSON.stringify({ tool: gate.tool, input: {}, reason: null, cwd: null }),
    decision: decision && JSON.stringify({ ...decision, reason: null, answers: null }),
  });
}

/** A summary, and the memory of an agent program, may hold the removed words. */
async function forgetContext(work: Work, session: SessionWriter, entry: EventRow): Promise<void> {
  session.row.executor_session_id = null;
  if (entry.thread === null) return;
  const thread = await findThread(work.tx, session.row.id, entry.thread);
  if (thread?.summary != null && thread.summary_through_seq >= entry.seq)
    // The context begins where it did; without a summary its history is read whole again.
    await resetContext(work.tx, thread.id, thread.context_after_seq);
}
