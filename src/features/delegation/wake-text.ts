/** How a parent reads what became of its children; pure. */
import type { WorkerEventPayload, WorkerEventType } from "./contract.ts";

export interface ToldEvent {
  type: WorkerEventType;
  childId: string;
  childName: string;
  payload: WorkerEventPayload;
}

/** Of all events of one prompt together; each gets its share, and at least a line. */
const MAX_CHARS = 64_000;
const MIN_SHARE = 500;

export function wakeText(events: readonly ToldEvent[]): string {
  const share = Math.max(MIN_SHARE, Math.floor(MAX_CHARS / Math.max(1, events.length)));
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
};

/** What a child said is quoted: it is information, and no instruction of a person. */
function eventText({ type, childId, childName, payload }: ToldEvent, share: number): string {
  if (payload.workers) return foldedText(payload);
  const { outcome, code, text, questions, isCut = false } = payload;
  const ended = type === "worker.ended" && outcome !== undefined ? ` (${outcome})` : "";
  const why = code ? ` [${code}]` : "";
  const head = `${type}: ${JSON.stringify(childName)} (${childId}) ${WHAT[type]}${ended}${why}.`;
  const asked = questions ? questions.map((question) => `Question: ${question}`).join("\n") : "";
  const said = text === undefined || text === "" ? "" : quote(cut(text, share, isCut, childId));
  const parts = [head, asked, said, nextStep(type, payload)];
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
  return `${count} earlier events, more than are kept. Read the sessions for what they said:\n${quote(text)}`;
}

function cut(text: string, share: number, isCut: boolean, childId: string): string {
  if (text.length <= share && !isCut) return text;
  return `${text.slice(0, share)}\n[… cut; read the rest in ${childId} …]`;
}

export function quote(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}
