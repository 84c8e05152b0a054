/** How a parent reads what became of its children; pure. */
import { quoteLines } from "#base/text.ts";
import type { WorkerEventPayload, WorkerEventType } from "./contract.ts";
import { inQuotes, shareOf } from "./words.ts";

export interface ToldEvent {
  type: WorkerEventType;
  childId: string;
  childName: string;
  payload: WorkerEventPayload;
}

export function wakeText(events: readonly ToldEvent[]): string {
  const share = shareOf(events.length);
  const count = events.length === 1 ? "1 event" : `${events.length} events`;
  const told = events.map((event, index) => `${index + 1}. ${eventText(event, share)}`);
  return `[orchestration] ${count} from your child sessions.\n\n${told.join("\n\n")}`;
}

const WHAT: Record<WorkerEventType, string> = {
  "worker.ended": "ended its turn",
  "worker.ask_user": "asks a question and waits for the answer",
  "worker.auto_retry_failed": "could not reach its model, after several tries",
  "worker.stopped_without_end": "was stopped before it came to an end",
  "worker.deleted": "was ended by somebody else",
  "worker.detached": "was taken out of your hands by somebody else",
  "worker.notified": "has something to tell you, and works on",
};

/** A runner says it, so it is shown only when it can be nothing but a code. */
const CODE = /^[a-z0-9_]{1,64}$/;

/** What a child said is quoted: it is information, and no instruction of a person. */
function eventText({ type, childId, childName, payload }: ToldEvent, share: number): string {
  if (payload.workers) return foldedText(payload);
  const { outcome, code, text = "", questions = [], isCut = false } = payload;
  const ended = type === "worker.ended" && outcome !== undefined ? ` (${outcome})` : "";
  const why = code && CODE.test(code) ? ` [${code}]` : "";
  const head = `${type}: ${inQuotes(childName)} (${childId}) ${WHAT[type]}${ended}${why}.`;
  const asked = questions.map((question) => `Question: ${question}`).join("\n");
  const parts = [
    head,
    asked === "" ? "" : quoteLines(cut(asked, share, false, childId)),
    text === "" ? "" : quoteLines(cut(text, share, isCut, childId)),
    nextStep(type, payload),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function nextStep(type: WorkerEventType, { isClosed, isRemoved }: WorkerEventPayload): string {
  if (isRemoved) return "The session is gone. Correct what was wrong, and spawn another.";
  if (type !== "worker.ask_user") return "";
  return isClosed
    ? "It waits no more: it was answered by somebody else, or its turn has ended."
    : "Answer it with a message to the session.";
}

/** One event that stands for many. */
function foldedText({ count = 0, text = "" }: WorkerEventPayload): string {
  return `${count} earlier events, more than are kept. Read the sessions for what they said:\n${quoteLines(text)}`;
}

function cut(text: string, share: number, isCut: boolean, childId: string): string {
  if (text.length <= share && !isCut) return text;
  return `${text.slice(0, share)}\n[… cut; read the rest in ${childId} …]`;
}
