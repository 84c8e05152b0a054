/** A child's conversation as another agent reads it, and passed on word for word. */
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
import { findEvent } from "./notify/inbox-queries.ts";
import { listSaid } from "./notify/said.ts";
import { endOfPiece, inQuotes } from "./notify/words.ts";
import { questionText } from "./plans/question-text.ts";
import { FORWARDED } from "./run-result.ts";

/** Tool calls that are told between messages are among so many newest entries. */
const SCANNED = 500;
const MAX_MESSAGE_CHARS = 16_000;

/**
 * The newest messages, in order and quoted, however many tool calls came after them; what the tools
 * did lately stands between them in a line each.
 */
export async function readMessages(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<{ text: string; count: number }> {
  const said = await listSaid(reader, sessionId, ["text", "prompt"], limit);
  const recent = await listEntries(reader, { sessionId, limit: SCANNED });
  const from = said[0]?.seq ?? 0;
  const between = recent.map(entryView).filter(isTold);
  // What was said comes last, so that a result stands there as the message that it is.
  const bySeq = new Map([...between, ...said].map((entry) => [entry.seq, entry]));
  const shown = [...bySeq.values()].filter(({ seq }) => seq >= from).sort((a, b) => a.seq - b.seq);
  return { text: shown.map(render).join("\n\n"), count: said.length };
}

/** Entries that are told in a line between messages. */
function isTold({ kind, text, tool }: Entry): boolean {
  if (kind === "reasoning" || kind === "tool_result") return false;
  return tool !== null || (text ?? "").trim() !== "";
}

/** Input of the tools that read a child, for a text that is longer than one answer. */
export const readOnInput = {
  offset: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      "Reads on in one text from this character instead: the newest message, or with promptId what was said at the end of that turn. nextOffset says where to go on.",
    ),
  promptId: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("The turn whose result is read, as you were told it."),
};

export const NOTHING_SAID = { output: null, error: "It has said nothing there." };

/** A piece of a long text, from a character on. */
export interface TextPiece {
  text: string;
  /** Characters of the whole text. */
  length: number;
  /** Where the next piece begins; null at the end. */
  nextOffset: number | null;
}

/**
 * Reads on in what a child said at the end of a turn, or, without a prompt, in its newest message.
 * Undefined when it said nothing there.
 */
export async function readOn(
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
  const [entry] = await listSaid(reader, sessionId, ["text"], 1);
  return entry && (entry.text ?? "");
}

/** The text its parent was told, if that was kept whole; else the whole result of the run. */
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

/** Whoever is to decide about it must be able to read all of it. */
function planIn({ kind, tool }: Entry): string | undefined {
  if (kind !== "tool_call" || tool?.name !== REQUEST_PLAN_APPROVAL) return undefined;
  const { plan } = (tool.input ?? {}) as { plan?: unknown };
  return typeof plan === "string" ? plan.slice(0, MAX_MESSAGE_CHARS) : undefined;
}

/** Whoever is to answer must see what there is to choose from. */
function questionsIn({ kind, tool }: Entry): string | undefined {
  if (kind !== "tool_call" || tool?.name !== ASK_USER_QUESTION) return undefined;
  const asked = keptQuestions.safeParse(tool.input).data?.questions;
  return asked && questionText(asked).slice(0, MAX_MESSAGE_CHARS);
}

/** The newest messages that the child itself wrote, put into the parent's transcript as they are. */
export async function forwardMessages(
  work: Work,
  parent: SessionWriter,
  place: { thread: string; promptId: string; runId: string },
  child: SessionWriter,
  limit: number,
): Promise<number> {
  const { id: sessionId, title } = child.row;
  const said = await listSaid(work.tx, sessionId, ["text"], limit);
  for (const { text, seq, at } of said) {
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
  return said.length;
}
