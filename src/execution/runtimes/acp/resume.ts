/** Prompt of a turn for an agent that does not know, or only half knows, what went before. */

import { authorWords, withAuthor } from "#execution/runtimes/prompt-author.ts";
import { INTERRUPTED, type Turn } from "#execution/runtimes/runtime.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { HistoryItem } from "#protocol/frames.ts";

const SHOWN_CHARS = 2000;

/** Answers for calls whose attempt was lost while they were under way. */
export function answerInterrupted(turn: Turn): JournalItem[] {
  const answered = new Set(
    turn.journaled.flatMap((item) => (item.type === "post_tool" ? [item.callId] : [])),
  );
  return turn.journaled.flatMap((item): JournalItem[] => {
    if (item.type !== "pre_tool" || answered.has(item.callId)) return [];
    return [
      { ...item, type: "post_tool", entryId: turn.entryId(), output: null, error: INTERRUPTED },
    ];
  });
}

/**
 * Prompt of the turn: the needed part of the thread, then the request, and then the earlier work if
 * this is not the first attempt.
 */
export function promptFor(turn: Turn, earlier: readonly HistoryItem[]): string {
  const said = earlier.map((item) => describeEarlier(turn, item)).filter((line) => line !== "");
  const request = requestFor(turn);
  if (said.length === 0) return request;
  return ["[Earlier in this conversation:]", ...said, "", "[Now:]", request].join("\n");
}

function requestFor({ assignment, journaled }: Turn): string {
  const content = withAuthor(assignment.content, assignment.author, assignment);
  if (journaled.length === 0) return content;
  const done = journaled.map(describeItem).filter((line) => line !== "");
  return [
    content,
    "",
    "[You were interrupted while working on this request. What you have done so far is listed below: do",
    "not do it again. Continue from there. A call marked as interrupted may or may not have taken effect:",
    "check before you repeat it.]",
    ...done,
  ].join("\n");
}

function describeItem(item: JournalItem): string {
  switch (item.type) {
    case "message":
      return item.kind === "text" ? `- you said: ${shorten(item.text)}` : "";
    case "pre_tool":
      return `- you called ${item.tool} with ${shorten(JSON.stringify(item.input) ?? "")}`;
    case "post_tool":
      return `- ${item.tool} ${item.error === null ? "returned" : "failed with"} ${shorten(item.error ?? JSON.stringify(item.output) ?? "")}`;
    default:
      return "";
  }
}

function describeEarlier({ assignment }: Turn, { item }: HistoryItem): string {
  if (item.type !== "prompt") return describeItem(item);
  return `- ${authorWords(item.author, assignment) ?? item.author.name}: ${shorten(item.text)}`;
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} …` : text;
}
