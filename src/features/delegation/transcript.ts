/** A child's transcript as its parent reads it, and messages forwarded verbatim. */
import * as z from "zod";
import type { Reader } from "#base/store/index.ts";
import { quoteLines } from "#base/text/clean-text.ts";
import type { SessionWriter, Work } from "#engine/index.ts";
import { findRun } from "#engine/runs/index.ts";
import { entryView, findPrompt, listEntries } from "#engine/sessions/index.ts";
import type { Entry } from "#protocol/sessions.ts";
import { ASK_USER_QUESTION, keptQuestions, REQUEST_PLAN_APPROVAL } from "#protocol/tools.ts";
import { lineOf } from "./children/children.ts";
import type { WorkerEventPayload } from "./contract.ts";
import { listMessages } from "./notify/child-messages.ts";
import { findEvent } from "./notify/inbox-queries.ts";
import { endOfPiece, inQuotes } from "./notify/words.ts";
import { questionText } from "./plans/question-text.ts";
import { FORWARDED } from "./run-result.ts";

/** Number of newest entries that are searched for tool calls between the messages. */
const SCANNED = 500;
const MAX_MESSAGE_CHARS = 16_000;

/**
 * Reads the newest messages, in order and quoted, however many tool calls follow them. Recent tool
 * calls between them take one line each.
 */
export async function readMessages(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<{ text: string; count: number }> {
  const messages = await listMessages(reader, sessionId, ["text", "prompt"], limit);
  const recent = await listEntries(reader, { sessionId, limit: SCANNED });
  const from = messages[0]?.seq ?? 0;
  const between = recent.map(entryView).filter(isShownInLine);
  // Messages come last in the map, so that a completion replaces the entry of its tool call.
  const bySeq = new Map([...between, ...messages].map((entry) => [entry.seq, entry]));
  const shown = [...bySeq.values()].filter(({ seq }) => seq >= from).sort((a, b) => a.seq - b.seq);
  return { text: shown.map(render).join("\n\n"), count: messages.length };
}

/** True for entries that are shown in one line between messages. */
function isShownInLine({ kind, text, tool }: Entry): boolean {
  if (kind === "reasoning" || kind === "tool_result") return false;
  return tool !== null || (text ?? "").trim() !== "";
}

/** Input of the tools that read a child, for texts longer than one result. */
export const textPieceInput = {
  offset: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      "Continues one text from this character: the newest message, or with promptId what was said at the end of that turn. nextOffset is where to continue.",
    ),
  promptId: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("The turn whose result to read, from the notification."),
};

export const NO_MESSAGES = { output: null, error: "It has said nothing there." };

/** Piece of a long text, starting at an offset. */
export interface TextPiece {
  text: string;
  /** Length of the whole text, in characters. */
  length: number;
  /** Start of the next piece; null at the end. */
  nextOffset: number | null;
}

/**
 * Reads a piece of the result of a turn, or without a prompt of the child's newest message.
 * Undefined if there is no such text.
 */
export async function readTextPiece(
  reader: Reader,
  sessionId: string,
  { offset, promptId }: { offset: number; promptId?: string | undefined },
): Promise<TextPiece | undefined> {
  const text =
    promptId === undefined
      ? await newestText(reader, sessionId)
      : await resultOf(reader, sessionId, promptId);
  if (text === undefined) return undefined;
  const end = endOfPiece(text, offset + MAX_MESSAGE_CHARS);
  const nextOffset = end < text.length ? end : null;
  return { text: quoteLines(text.slice(offset, end)), length: text.length, nextOffset };
}

async function newestText(reader: Reader, sessionId: string): Promise<string | undefined> {
  const [entry] = await listMessages(reader, sessionId, ["text"], 1);
  return entry && (entry.text ?? "");
}

/**
 * Text of the event that the parent got, if it was stored in full; otherwise the whole result of
 * the run.
 */
async function resultOf(
  reader: Reader,
  sessionId: string,
  promptId: string,
): Promise<string | undefined> {
  const prompt = await findPrompt(reader, promptId);
  if (prompt?.session_id !== sessionId) return undefined;
  const event = await findEvent(reader, `ended:${prompt.run_id}`);
  const payload = event && (JSON.parse(event.payload) as WorkerEventPayload);
  if (payload?.text !== undefined && !payload.isCut) return payload.text;
  return (await findRun(reader, prompt.run_id))?.result ?? payload?.text;
}

function isMessage({ kind }: Entry): boolean {
  return kind === "text" || kind === "prompt";
}

function render(entry: Entry): string {
  const plan = planIn(entry);
  if (plan !== undefined) return `[${entry.seq}] (presents a plan)\n${quoteLines(plan)}`;
  const questions = questionsIn(entry);
  if (questions !== undefined) return `[${entry.seq}] (asks)\n${quoteLines(questions)}`;
  if (!isMessage(entry)) return `[${entry.seq}] (${lineOf(entry)})`;
  const { author } = entry;
  const asked = author ? `${author.kind} ${inQuotes(author.name)}` : "prompt";
  const who = entry.kind === "prompt" ? asked : "assistant";
  const text = entry.text ?? "";
  const end = endOfPiece(text, MAX_MESSAGE_CHARS);
  const rest =
    end < text.length
      ? `\n[${text.length - end} more characters; of the newest message, read on with offset ${end}]`
      : "";
  return `[${entry.seq}] ${who}:\n${quoteLines(text.slice(0, end))}${rest}`;
}

/** Plan of a tool call, shown in full to the parent that decides on it. */
function planIn({ kind, tool }: Entry): string | undefined {
  if (kind !== "tool_call" || tool?.name !== REQUEST_PLAN_APPROVAL) return undefined;
  const { plan } = (tool.input ?? {}) as { plan?: unknown };
  return typeof plan === "string" ? plan.slice(0, MAX_MESSAGE_CHARS) : undefined;
}

/** Questions of a tool call with their options, which the parent needs for its answer. */
function questionsIn({ kind, tool }: Entry): string | undefined {
  if (kind !== "tool_call" || tool?.name !== ASK_USER_QUESTION) return undefined;
  const asked = keptQuestions.safeParse(tool.input).data?.questions;
  return asked && questionText(asked).slice(0, MAX_MESSAGE_CHARS);
}

/** Copies the newest messages that the child wrote verbatim into the parent's transcript. */
export async function forwardMessages(
  work: Work,
  parent: SessionWriter,
  place: { thread: string; promptId: string; runId: string },
  child: SessionWriter,
  limit: number,
): Promise<number> {
  const { id: sessionId, title } = child.row;
  const messages = await listMessages(work.tx, sessionId, ["text"], limit);
  for (const { text, seq, at } of messages) {
    parent.record({
      type: "notice",
      ...place,
      entryId: work.ids.mint("ent"),
      kind: "notice",
      role: "system",
      content: [{ type: "text", text: text ?? "" }],
      reason: FORWARDED,
      data: {
        author: { kind: "session", id: sessionId, name: title ?? sessionId },
        forwarded: { sessionId, seq, at },
      },
    });
  }
  return messages.length;
}
