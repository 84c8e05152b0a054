/** Text about children for a parent's model; pure. */
import { quoteLines } from "#base/text/clean-text.ts";
import type { SessionRow } from "#engine/index.ts";
import type {
  ChildEvent,
  NoticeOf,
  WorkerEventPayload,
  WorkerEventType,
} from "#protocol/notices/notices.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import type { AskedQuestion } from "#protocol/tools.ts";
import { answerAdvice, questionText } from "../plans/question-text.ts";
import { endOfPiece, inQuotes, isToDecide, shareOf } from "./words.ts";

/**
 * Number of pending plans shown in full. The limit counts plans, so that a child cannot have its
 * own plan shortened by sending more text.
 */
const WHOLE_PLANS = 4;

/** Tool by which the parent reads the rest of a child's text; null if it has none. */
export type ReadCall = "read_messages" | "orchestrate_read_worker" | null;

type Reader = Pick<SessionRow, "kind" | "role">;

function readCallOf({ kind, role }: Reader): ReadCall {
  if (isOrchestrator({ kind })) return "read_messages";
  return role === "supervisor" ? "orchestrate_read_worker" : null;
}

type WaitEnded = NonNullable<NoticeOf<"children">["waitEnded"]>;

const WAIT_ENDED: Record<WaitEnded, { why: string; alone: string }> = {
  time: {
    why: "The time you set to wait is over.",
    alone: "Nothing that you waited for has happened.",
  },
  children_gone: {
    why: "The child sessions you waited for are gone: they were ended or detached in another of your conversations, or by somebody else.",
    alone: "No more updates will come from them.",
  },
};

export function childrenText({ waitEnded, items }: NoticeOf<"children">, reader: Reader): string {
  const text = wakeText(items, readCallOf(reader));
  if (waitEnded === null) return text;
  const { why, alone } = WAIT_ENDED[waitEnded];
  return `[orchestration] ${why}${items.length === 0 ? ` ${alone}` : `\n\n${text}`}`;
}

export function wakeText(
  events: readonly ChildEvent[],
  readCall: ReadCall = "read_messages",
): string {
  const share = shareOf(events.length);
  const plans = events.filter(({ payload }) => isToDecide(payload));
  const whole = new Set(plans.slice(0, WHOLE_PLANS));
  const shareFor = (event: ChildEvent) => (whole.has(event) ? Number.POSITIVE_INFINITY : share);
  const count = events.length === 1 ? "1 event" : `${events.length} events`;
  const numbered = events.map(
    (event, index) => `${index + 1}. ${eventText(event, shareFor(event), readCall)}`,
  );
  return `[orchestration] ${count} from your child sessions.\n\n${numbered.join("\n\n")}`;
}

const WHAT: Record<WorkerEventType, string> = {
  "worker.ended": "ended its turn",
  "worker.ask_user": "asks a question and is waiting for the answer",
  "worker.auto_retry_failed": "could not reach its model after several attempts",
  "worker.stopped_without_end": "was stopped before it finished",
  "worker.deleted": "was ended by somebody else",
  "worker.detached": "was detached by somebody else",
  "worker.notified": "sent you a message and continues working",
};

/** Error code of a child whose machine is gone while its turn waits. */
export const MACHINE_GONE = "workspace_offline";
const CANNOT_GO_ON = "cannot continue, because the machine with its files is gone";

/** The code comes from a runner, so it is shown only if it has the form of a code. */
const CODE = /^[a-z0-9_]{1,64}$/;

/** A child's text is quoted: it is information, not an instruction of a person. */
function eventText(
  { type, childId, childName, payload }: ChildEvent,
  share: number,
  readCall: ReadCall,
): string {
  if (payload.workers) return foldedText(payload);
  const { outcome, code, text = "", questions = [], isCut = false } = payload;
  const ended = type === "worker.ended" && outcome !== undefined ? ` (${outcome})` : "";
  const why = code && CODE.test(code) ? ` [${code}]` : "";
  const isStuck = code === MACHINE_GONE && outcome === undefined;
  const what = payload.kind === "plan" ? PRESENTS : isStuck ? CANNOT_GO_ON : WHAT[type];
  const head = `${type}: ${inQuotes(childName)} (${childId}) ${what}${ended}${why}.`;
  const asked = askedText(questions, payload.choices);
  const parts = [
    head,
    asked === "" ? "" : quoteLines(asked.slice(0, endOfPiece(asked, share))),
    text === "" ? "" : quoteLines(text.slice(0, endOfPiece(text, share))),
    missingText(payload, childId, share, readCall),
    payload.kind === "plan"
      ? planStep(payload, childId, isCut || text.length > share)
      : nextStep(type, payload),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** A single question without options keeps its short form. */
function askedText(
  questions: readonly string[],
  choices: readonly AskedQuestion[] | undefined,
): string {
  if (questions.length === 1 && !choices) return `Question: ${questions[0]}`;
  return questionText(choices ?? questions.map((question) => ({ question })));
}

function nextStep(
  type: WorkerEventType,
  { isClosed, isRemoved, code, outcome, questions = [] }: WorkerEventPayload,
): string {
  if (code === MACHINE_GONE && outcome === undefined)
    return "Its turn continues by itself when the machine is back. To continue now, in a new workspace with the recorded changes, use relocate_session.";
  if (isRemoved) return "The session was removed. Correct the problem, then spawn another.";
  if (type !== "worker.ask_user") return "";
  return isClosed
    ? "It no longer waits: somebody else answered it, or its turn has ended."
    : `Answer it ${answerAdvice(questions.length)}.`;
}

const PRESENTS = "presents a plan and is waiting for a decision";
const FATES: ReadonlyMap<string | undefined, string> = new Map([
  ["approved", "a person approved it"],
  ["revise", "a person sent it back with a comment"],
  ["rejected", "a person rejected it"],
]);

function planStep(
  { gateId, isClosed, outcome }: WorkerEventPayload,
  childId: string,
  isCut: boolean,
): string {
  if (isClosed)
    return `It no longer waits: ${FATES.get(outcome) ?? "the time to decide is over, or its turn has ended"}.`;
  if (isCut)
    return `Only the beginning of this plan is shown, so do not approve it yet: ask for it again with decide_plan (sessionId ${childId}, planId ${gateId}), revise, or read all of it in the session's status first.`;
  return `Compare it with the request, then decide with decide_plan (sessionId ${childId}, planId ${gateId}): approve, revise with what to change, or reject. A message to the session sends the plan back with it, and never approves it.`;
}

/** Text of a folded event. */
function foldedText({ count = 0, text = "" }: WorkerEventPayload): string {
  return `${count} earlier events, more than are kept. Read the sessions for details:\n${quoteLines(text)}`;
}

/** Number of characters left out, and the tool call that reads on from there. */
function missingText(
  { text = "", length = text.length, promptId, kind }: WorkerEventPayload,
  childId: string,
  share: number,
  readCall: ReadCall,
): string {
  const offset = endOfPiece(text, share);
  if (offset >= length || kind === "plan") return "";
  const missing = `${length - offset} of ${length} characters are missing here.`;
  if (readCall === null) return `${missing} Read the rest in session ${childId}.`;
  const who = readCall === "read_messages" ? "sessionId" : "workerId";
  const input = { [who]: childId, ...(promptId !== undefined && { promptId }), offset };
  return `${missing} Read on with ${readCall} ${JSON.stringify(input)}.`;
}
