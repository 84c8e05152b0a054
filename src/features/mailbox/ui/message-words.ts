/** Message texts: type, delivery, decision and a one-line summary. Pure. */
import type {
  MailMessage,
  MessageDecision,
  MessageEventType,
  MessageParty,
  MessageType,
} from "#features/mailbox/contract.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";

export const TYPES: Record<MessageType, string> = {
  message: "Message",
  notification: "Notification",
  question: "Question",
  escalation: "Escalation",
  approval: "Approval",
};

/** Event texts of platform messages about a session. */
const EVENTS: Partial<Record<MessageEventType, string>> = {
  "session.completed": "is done",
  "session.failed": "failed",
  "session.question": "asks you",
  "session.approval": "requests approval",
};

/** Returns the phrase after the sender's name; null when the message says it all itself. */
export function eventWords({ eventType, decision }: MailMessage): string | null {
  if (decision !== null && eventType === "session.question") return "asked you";
  if (decision !== null && eventType === "session.approval") return "requested approval";
  return (eventType && EVENTS[eventType]) ?? null;
}

/** Leaves out the platform's opening paragraph when the line above says the same. */
export function bodyOf(message: MailMessage): string {
  const { content, from } = message;
  if (eventWords(message) === null || !content.startsWith(from.name)) return content;
  const end = content.indexOf("\n\n");
  return end < 0 ? "" : content.slice(end + 2);
}

const LINE_CHARS = 240;
const ENDS: Partial<Record<MessageEventType, string>> = {
  "session.completed": "Done",
  "session.failed": "Failed",
};

/** Returns the beginning as one line, without markdown marks. */
export function lineOf(message: MailMessage): string {
  const words = bodyOf(message)
    .slice(0, LINE_CHARS * 2)
    .replace(/^[#>]+ +/gm, "")
    .replace(/`+|\*\*/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const event = message.eventType === null ? undefined : ENDS[message.eventType];
  const end = decisionWords(message) ?? event;
  return revealLine([end, words.slice(0, LINE_CHARS)].filter(Boolean).join(": "));
}

export function partyName({ name, id }: MessageParty): string {
  return revealLine(name.trim() === "" ? id : name);
}

const REASONS: Record<string, string> = {
  recipient_ended: "the session has ended",
  read_by_owner: "the agent's owner marked it as read",
  hop_limit: "the agents answered each other too often without a person",
  unattended_limit_reached:
    "the agent reached its limit of turns without a person and continues when its owner writes",
};

/** Describes the delivery of a message that the reader or one of their agents wrote. */
export function fateWords({ fate, fateReason, to }: MailMessage): string {
  if (fate === "delivered") return "Delivered";
  const why = fateReason === null ? null : (REASONS[fateReason] ?? reasonWords(fateReason));
  const what = fate === "failed" ? "Not delivered" : `Waiting until ${partyName(to)} reads it`;
  return why === null ? what : `${what}: ${why}`;
}

function reasonWords(reason: string): string {
  return revealLine(/\s/.test(reason) ? reason : reason.replaceAll("_", " "));
}

const DECISIONS: Record<MessageDecision, string> = {
  allowed: "Allowed",
  denied: "Not allowed",
  revised: "Sent back",
  answered: "Answered",
  expired: "Expired",
  cancelled: "No longer needed",
};

/** Describes the decision; null while pending, or if the message asks for none. */
export function decisionWords({ decision, messageType }: MailMessage): string | null {
  if (decision === "denied" && messageType === "question") return "Left unanswered";
  return decision === null ? null : DECISIONS[decision];
}

const PROMPT = "prompt:";

/** Returns the prompt that can be sent again, if the platform wrote the message about a failure. */
export function failedPromptOf({ eventType, contextRef }: MailMessage): string | null {
  if (eventType !== "session.failed") return null;
  return contextRef?.startsWith(PROMPT) ? contextRef.slice(PROMPT.length) : null;
}

const APPROVAL = "approval:";

/** Returns the gate that a platform message is about; only the platform can name one. */
export function gateOf({ eventType, contextRef }: MailMessage): string | null {
  if (eventType !== "session.question" && eventType !== "session.approval") return null;
  return contextRef?.startsWith(APPROVAL) ? contextRef.slice(APPROVAL.length) : null;
}
