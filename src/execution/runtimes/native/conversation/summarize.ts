/**
 * Sums up the oldest entries of a thread, piece by piece. Each summary is journaled with the last
 * entry it covers and replaces all before it from then on, so nothing is hidden that was not read.
 * Entries that a turn does not reach are left to the next one, and the model is told that they are
 * missing. A failed summary is journaled as well: the server decides when the next may be made.
 */
import type { ModelPrice, ModelProvider, ModelUsage } from "#execution/models/model.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { HistoryItem } from "#protocol/frames.ts";
import type { Turn } from "../../runtime.ts";
import { modelCallItem } from "../calls/response-items.ts";
import type { TurnBounds } from "../turn-limits.ts";
import { divide, type Earlier, exchangesOf, type LoadedHistory } from "./earlier-turns.ts";
import { lineOf } from "./entry-text.ts";
import { SUMMARY_PROMPT } from "./system-prompt.ts";

/** Size of one request, the earlier summary included. */
const PIECE_CHARS = 300_000;
/** A model that cannot read even this much cannot do the work. */
const MIN_PIECE_CHARS = 10_000;
const MAX_REQUESTS = 5;
const MAX_SUMMARY_CHARS = 40_000;

export interface Summarizer {
  turn: Turn;
  provider: ModelProvider;
  /** Whole id, and the part of it that the provider knows. */
  modelId: string;
  model: string;
  price: ModelPrice | null;
  bounds: TurnBounds;
}

export async function summarizeEarlier(by: Summarizer, loaded: LoadedHistory): Promise<Earlier> {
  const { old, hidden, kept } = divide(loaded);
  // A model whose last summary failed is not asked again at each of the next turns.
  const { summary, left, hasFailed } =
    loaded.summaryDue === false
      ? { summary: loaded.summary, left: old, hasFailed: false }
      : await sumUp(by, loaded.summary, old);
  if (hasFailed && loaded.summaryDue !== undefined)
    await by.turn.append({ type: "summary_failed", entryId: by.turn.entryId() });
  if (left.length > 0) by.turn.log.warn({ entries: left.length }, "earlier entries not summed up");
  return { summary, hidden: hidden + exchangesOf(left).length, exchanges: kept };
}

async function sumUp(by: Summarizer, before: string | null, items: readonly HistoryItem[]) {
  let summary = before;
  let left = items;
  let maxChars = PIECE_CHARS;
  let hasFailed = false;
  for (let asked = 0; asked < MAX_REQUESTS && left.length > 0; asked++) {
    if (by.turn.signal.aborted || by.bounds.reached(1)) break;
    const piece = takePiece(left, maxChars - (summary?.length ?? 0));
    if (piece.text === "") return { summary, left: [], hasFailed: false };
    const answer = await ask(by, summary, piece.text);
    hasFailed = answer.kind !== "text" && !by.turn.signal.aborted;
    if (answer.kind === "too_long" && maxChars > MIN_PIECE_CHARS) {
      maxChars = Math.floor(maxChars / 3);
      continue;
    }
    if (answer.kind !== "text") break;
    const { text, call } = answer;
    const entryId = by.turn.entryId();
    const { throughSeq } = piece;
    await by.turn.append({ type: "context_summary", entryId, text, throughSeq }, call);
    summary = text;
    left = left.slice(piece.count);
  }
  return { summary, left, hasFailed };
}

/** As many of the oldest entries as may be read at once, and at least one. */
function takePiece(items: readonly HistoryItem[], maxChars: number) {
  const lines: string[] = [];
  let chars = 0;
  let count = 0;
  let throughSeq = 0;
  for (const { seq, item } of items) {
    const line = lineOf(item);
    if (count > 0 && chars + line.length > maxChars) break;
    if (line !== "") lines.push(line);
    chars += line.length + 1;
    count += 1;
    throughSeq = seq;
  }
  return { text: lines.join("\n"), count, throughSeq };
}

type SummaryReply =
  | { kind: "text"; text: string; call: JournalItem }
  | { kind: "too_long" | "failed" };

async function ask(by: Summarizer, summary: string | null, piece: string): Promise<SummaryReply> {
  const { turn, provider, model, bounds } = by;
  await turn.step();
  const text = summary === null ? piece : `[Summary so far]\n${summary}\n\n${piece}`;
  const startedAt = performance.now();
  const stream = provider.stream({
    model,
    system: SUMMARY_PROMPT,
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    tools: [],
    cacheKey: `${turn.assignment.sessionId}/summary`,
    runToken: turn.assignment.token,
    signal: AbortSignal.any([
      turn.signal,
      turn.killed,
      AbortSignal.timeout(bounds.remainingTimerMs),
    ]),
  });
  for await (const event of stream) {
    if (event.type === "failed")
      return { kind: event.failure.code === "context_too_long" ? "too_long" : "failed" };
    if (event.type !== "end") continue;
    const { parts, usage, stopReason } = event.response;
    const call = spent(by, usage, Math.round(performance.now() - startedAt));
    const said = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    // A refusal or an empty answer must not take the place of the conversation.
    if (stopReason !== "refusal" && said.trim() !== "")
      return { kind: "text", text: said.slice(0, MAX_SUMMARY_CHARS), call };
    await turn.append(call);
    return { kind: "failed" };
  }
  return { kind: "failed" };
}

function spent(by: Summarizer, usage: ModelUsage | null, durationMs: number): JournalItem {
  const { turn, modelId: model, price, bounds } = by;
  const facts = { entryId: turn.entryId(), model, price, usage, durationMs };
  const call = modelCallItem({ ...facts, stopReason: "summary" });
  bounds.spend(call.costMicros);
  return call;
}
