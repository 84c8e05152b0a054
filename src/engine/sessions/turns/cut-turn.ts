/**
 * Cuts a turn short. A turn that a runner holds gets a stop request, and ends when its runner
 * reports it; a turn that waits for its next attempt, because its runner was lost or because it is
 * parked, is ended at once.
 */

import { endingOf, requestStop } from "#engine/runs/request-stop.ts";
import type { EventRow, RunRow } from "#engine/schema.ts";
import { findKnownAnswer } from "#engine/tools/queries.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { INTERRUPTED } from "#protocol/events.ts";
import type { CancelReason } from "#protocol/frames.ts";
import { findPrompt } from "../prompts/prompt-queries.ts";
import { findCall, listTurnCalls, type TurnCall } from "./turn-entries.ts";
import { settleRun } from "./turns.ts";

/** More open calls than an honest turn has. */
const MAX_ANSWERED = 1_000;

/** Cuts a turn; `by` is the prompt that cuts it. */
export async function cutTurn(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  reason: CancelReason,
  by: string | null,
): Promise<void> {
  if (run.state === "stopping") return;
  if (run.runner_id !== null) return requestStop(work, session, run, reason, by);
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  run.stop_reason = reason;
  await answerOpenCalls(work, session, run);
  await settleRun(work, session, prompt, run, endingOf(reason, by));
}

/** Calls of a turn and their results, with those of the present command. */
export async function turnCalls(
  work: Work,
  session: SessionWriter,
  { session_id: sessionId, first_seq: after, prompt_id: promptId }: RunRow,
): Promise<TurnCall[]> {
  const kept = await listTurnCalls(work.tx, { sessionId, after, promptId });
  const fresh = session.appended.flatMap((row): TurnCall[] => {
    const { seq, type } = row;
    if (row.prompt_id !== promptId || (type !== "pre_tool" && type !== "post_tool")) return [];
    const { callId = null, verdict } = JSON.parse(row.data ?? "{}") as CallData;
    const judged = verdict === undefined ? null : JSON.stringify(verdict);
    return [{ seq, type, call_id: callId, verdict: judged }];
  });
  return [...kept, ...fresh];
}

interface CallData {
  callId?: string;
  verdict?: unknown;
  meta?: unknown;
}

/** A call as journaled, also by the present command. */
export async function readCall(
  work: Work,
  session: SessionWriter,
  { seq }: TurnCall,
): Promise<Pick<EventRow, "tool_name" | "tool_input" | "data">> {
  const fresh = session.appended.find((row) => row.seq === seq);
  const found = fresh ?? (await findCall(work.tx, session.row.id, seq));
  if (!found) throw new Error(`session ${session.row.id} has no event ${seq}`);
  return found;
}

/**
 * Answers the open calls of a turn that ends without its runner: a finished turn must not hold a
 * call without a result, because models refuse such a history.
 */
export async function answerOpenCalls(
  work: Work,
  session: SessionWriter,
  run: RunRow,
): Promise<void> {
  if (run.fence === 0) return;
  const calls = await turnCalls(work, session, run);
  const answered = new Set(
    calls.filter(({ type }) => type === "post_tool").map(({ call_id }) => call_id),
  );
  const open = calls.filter(({ type, call_id }) => type === "pre_tool" && !answered.has(call_id));
  for (const call of open.slice(-MAX_ANSWERED)) {
    const { tool_name, tool_input, data } = await readCall(work, session, call);
    const known = await findKnownAnswer(work.tx, run.prompt_id, call.call_id ?? "");
    const { meta: _provider, ...facts } = JSON.parse(data ?? "{}") as CallData;
    session.record({
      type: "post_tool",
      thread: run.thread,
      promptId: run.prompt_id,
      runId: run.id,
      entryId: work.ids.mint("ent"),
      kind: "tool_result",
      role: "system",
      toolName: tool_name ?? "",
      toolInput: tool_input === null ? null : JSON.parse(tool_input),
      toolOutput: known?.output ?? null,
      error: known ? known.error : INTERRUPTED,
      data: { ...facts },
    });
  }
}
