/**
 * Cutting a turn short. One that a runner holds is told, and ends when its runner says so; one that
 * waits for its next attempt, because its runner was lost or because it is parked, is ended at once.
 */
import { INTERRUPTED } from "#protocol/events.ts";
import type { CancelReason } from "#protocol/frames.ts";
import { endingOf, requestStop } from "../runs/request-stop.ts";
import type { EventRow, RunRow } from "../schema.ts";
import { findKnownAnswer } from "../tools/queries.ts";
import type { SessionWriter, Work } from "../work.ts";
import { listTurnEntries } from "./event-queries.ts";
import { findPrompt } from "./prompt-queries.ts";
import { settleRun } from "./turns.ts";

/** `by`: the prompt that cuts this turn. */
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

/** What a turn has journaled, with what the present command appends to it. */
export async function turnEntries(
  work: Work,
  session: SessionWriter,
  run: RunRow,
): Promise<EventRow[]> {
  const kept = await listTurnEntries(work.tx, run.session_id, run.first_seq, run.prompt_id);
  const fresh = session.appended.filter(
    (row) => row.prompt_id === run.prompt_id && row.entry_id !== null && row.role === "assistant",
  );
  return [...kept, ...fresh];
}

/**
 * For a turn that ends without a word from its runner: a call must not stand in a finished turn
 * without a result, because models refuse such a history.
 */
export async function answerOpenCalls(
  work: Work,
  session: SessionWriter,
  run: RunRow,
): Promise<void> {
  if (run.fence === 0) return;
  const entries = await turnEntries(work, session, run);
  const callOf = (data: string | null) =>
    (JSON.parse(data ?? "{}") as { callId?: string }).callId ?? "";
  const answered = new Set(
    entries.filter(({ type }) => type === "post_tool").map(({ data }) => callOf(data)),
  );
  for (const { type, data, tool_name, tool_input } of entries) {
    if (type !== "pre_tool" || answered.has(callOf(data))) continue;
    const known = await findKnownAnswer(work.tx, run.prompt_id, callOf(data));
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
      data: JSON.parse(data ?? "{}") as Record<string, unknown>,
    });
  }
}
