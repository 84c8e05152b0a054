/**
 * Messages to the owners of sessions: a question, an approval, a failure, a completion. Each
 * session has at most one message about its state, which newer information replaces. Only messages
 * that need action are unread. A completion arrives already read, and the digest collects it for
 * those who want it.
 */
import { quotesAny } from "#base/text/quoted-text.ts";
import { type GateDecision, gateText } from "#engine/gates/index.ts";
import type { GateRow, SessionRow, Work } from "#engine/index.ts";
import type { MessageDecision, MessageEventType, MessageType } from "../contract.ts";
import { keep } from "../inbox/change-message.ts";
import {
  findByCause,
  findMessage,
  forgetCause,
  listPlatformMessages,
  saveContent,
  saveDecision,
  saveReplacement,
} from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { sessionSide, userSide } from "../sending/sides.ts";
import { hintMessage, isCounted, post, withInbox, writeMessage } from "../sending/write-message.ts";
import { addToDigest } from "./digest.ts";
import { findGuest, GUEST_NOTE } from "./guest.ts";

const MAX_BODY_CHARS = 600;

/** Session with an owner, who is notified. */
type OwnedSession = SessionRow & { owner_id: string };

const gateCause = (gateId: string) => `gate:${gateId}`;
const stateCause = (sessionId: string) => `standing:${sessionId}`;

interface StateMessage {
  type: MessageType;
  event: MessageEventType;
  content: string;
}

export function notifyGateOpened(work: Work, session: OwnedSession, gate: GateRow): void {
  const isQuestion = gate.kind === "question";
  withInbox(work, personOf(session), async () => {
    const guest = await findGuest(work.tx, session, gate);
    const parts = [titleOf(session), ...(guest === undefined ? [] : [GUEST_NOTE]), gateText(gate)];
    await write(
      work,
      session,
      {
        type: isQuestion ? "question" : "approval",
        event: isQuestion ? "session.question" : "session.approval",
        content: parts.join("\n\n"),
      },
      { causeKey: gateCause(gate.id), contextRef: `approval:${gate.id}`, thread: gate.thread },
    );
  });
}

/** Stores the decision in the message and marks it as read, since nothing is left to answer. */
export function notifyGateClosed(work: Work, session: OwnedSession, gate: GateRow): void {
  withInbox(work, personOf(session), async () => {
    const row = await findByCause(work.tx, gateCause(gate.id));
    if (row) await saveDecision(work.tx, { id: row.id, decision: decisionOf(gate) });
    await readByCause(work, session, gateCause(gate.id));
  });
}

function decisionOf({ state, decision }: GateRow): MessageDecision {
  if (state === "expired") return "expired";
  if (state !== "decided" || decision === null) return "cancelled";
  const { allowed, answers, revise = false } = JSON.parse(decision) as GateDecision;
  if (answers) return "answered";
  if (revise) return "revised";
  return allowed ? "allowed" : "denied";
}

/** Marks the state message as read: an owner who prompts the session knows its state. */
export async function readStateMessage(work: Work, session: OwnedSession): Promise<void> {
  const causeKey = stateCause(session.id);
  const last = await findByCause(work.tx, causeKey);
  // Usually there is none, and the inbox lock is not needed.
  if (last?.read_at === null)
    withInbox(work, personOf(session), () => readByCause(work, session, causeKey));
}

/** Marks a failure as read after a later turn succeeded or the session was archived or ended. */
export async function readFailureMessage(work: Work, session: OwnedSession): Promise<void> {
  const causeKey = stateCause(session.id);
  const last = await findByCause(work.tx, causeKey);
  if (last?.event_type === "session.failed" && last.read_at === null)
    withInbox(work, personOf(session), () => readByCause(work, session, causeKey));
}

/** More messages than a session can have unread; older ones were read long ago. */
const MAX_REDACTED = 500;

/** Earlier versions made ids that begin with `ltr_`. */
const MESSAGE_IDS = /\b(?:msg|ltr)_[0-9a-z]+/g;
/** A call writes one message; text read in another call may name a few more. */
const MAX_SENT = 50;

/**
 * Blanks messages that the session's agent wrote by a call whose content was redacted: the result
 * of the call names the message, and the message repeats the input.
 */
export async function redactSent(
  work: Work,
  { id }: SessionRow,
  words: readonly string[],
): Promise<void> {
  const named = new Set(words.flatMap((text) => text.match(MESSAGE_IDS) ?? []));
  for (const messageId of [...named].slice(0, MAX_SENT)) {
    const message = await findMessage(work.tx, messageId);
    if (message?.from_session_id === id && quotesAny(message.content, words))
      await saveContent(work.tx, message.id, "[removed]");
  }
}

/** Removes redacted words of a session from the messages that the platform wrote about it. */
export async function redactSessionMessages(
  work: Work,
  { id, title }: SessionRow,
  words: readonly string[],
): Promise<void> {
  for (const message of await listPlatformMessages(work.tx, id, MAX_REDACTED))
    if (quotesAny(message.content, words))
      await saveContent(work.tx, message.id, `${title ?? id}\n\n[removed]`);
}

/**
 * Writes a completion, which needs no action: the message is already read and replaces the previous
 * one.
 */
export function notifyCompleted(
  work: Work,
  session: OwnedSession,
  body: string,
  thread: string,
): void {
  const content = withBody(`${titleOf(session)} is done.`, body);
  const message: StateMessage = { type: "notification", event: "session.completed", content };
  const causeKey = stateCause(session.id);
  const person = personOf(session);
  withInbox(work, person, async () => {
    const last = await findByCause(work.tx, causeKey);
    const isReplaced = last && last.archived_at === null && mayReplace(last);
    if (isReplaced) {
      await replace(work, last, { thread, contextRef: null }, message);
      const read = { ...last, surfaced_at: work.now, read_at: work.now, snoozed_until: null };
      await keep(work, person, last, read);
    } else {
      if (last) await forgetCause(work.tx, last.id);
      await write(work, session, message, { causeKey, contextRef: null, thread, isRead: true });
    }
    await addToDigest(work, session);
  });
}

/** A failure that the owner has read stays in the inbox unchanged. */
function mayReplace({ event_type, read_at }: MessageRow): boolean {
  return event_type === "session.completed" || read_at === null;
}

/** `promptId`: prompt that can be retried; null if there is none. */
export function notifyFailed(
  work: Work,
  session: OwnedSession,
  why: string,
  { thread, promptId }: { thread: string; promptId: string | null },
): void {
  const content = withBody(`${titleOf(session)} failed.`, why);
  const message: StateMessage = { type: "escalation", event: "session.failed", content };
  const causeKey = stateCause(session.id);
  const contextRef = promptId === null ? null : `prompt:${promptId}`;
  withInbox(work, personOf(session), async () => {
    const last = await findByCause(work.tx, causeKey);
    if (last && isCounted(last)) return replace(work, last, { thread, contextRef }, message);
    // The read message stays unchanged and gives up its cause key.
    if (last) await forgetCause(work.tx, last.id);
    await write(work, session, message, { causeKey, contextRef, thread });
  });
}

async function replace(
  work: Work,
  last: MessageRow,
  { thread, contextRef }: { thread: string; contextRef: string | null },
  message: StateMessage,
): Promise<void> {
  const row: MessageRow = {
    ...last,
    message_type: message.type,
    event_type: message.event,
    // A reply goes to the thread of this event, which may differ from the previous one.
    from_thread: thread,
    context_ref: contextRef,
    content: message.content,
    surfaced_at: work.now,
    created_at: work.now,
  };
  await saveReplacement(work.tx, row);
  // A repeat of the same event updates the inbox and sends nothing to other channels.
  if (row.event_type !== last.event_type) await post(work, row);
  if (row.to_user_id !== null) hintMessage(work, row.to_user_id, row.id);
}

async function write(
  work: Work,
  session: OwnedSession,
  { type, event, content }: StateMessage,
  about: { causeKey: string; contextRef: string | null; thread: string; isRead?: boolean },
): Promise<void> {
  const { causeKey, contextRef, thread, isRead = false } = about;
  await writeMessage(work, {
    orgId: session.org_id,
    from: await sessionSide(work.tx, session, thread),
    to: await userSide(work.tx, session.owner_id),
    type,
    event,
    content,
    contextSessionId: session.id,
    contextRef,
    isRead,
    causeKey,
  });
}

/** Marks a message as read, and clears its snooze so that it does not return. */
async function readByCause(work: Work, session: OwnedSession, causeKey: string): Promise<void> {
  const row = await findByCause(work.tx, causeKey);
  if (!row || (row.read_at !== null && row.snoozed_until === null)) return;
  const read = { ...row, read_at: row.read_at ?? work.now, snoozed_until: null };
  await keep(work, personOf(session), row, read);
}

function personOf({ org_id: orgId, owner_id: userId }: OwnedSession) {
  return { orgId, userId };
}

function titleOf({ title, id }: SessionRow): string {
  return title ?? id;
}

/** Appends the end of the text, where the result usually is. */
function withBody(head: string, body: string): string {
  const text = body.trim();
  if (text === "") return head;
  const isCut = text.length > MAX_BODY_CHARS;
  return `${head}\n\n${isCut ? `…${text.slice(-MAX_BODY_CHARS).toWellFormed()}` : text}`;
}
