/**
 * Delivers each message to its agent once. The sender's transaction writes the row, and
 * `engine/notices` delivers it: a busy agent finds the notice next in its queue; a hibernated one
 * gets it on waking, and urgent messages wake it. A message counts as delivered when that prompt
 * starts, or when the agent reads the message itself. Messages of the owner, of the owner's
 * sessions and of each guest are never delivered in one notice.
 */

import type { PromptRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import {
  deliverAtEnd,
  deliverNotice,
  isOpen,
  type NoticeSender,
  type NoticeSource,
  platformSender,
  refreshNotice,
} from "#engine/notices/index.ts";
import { findPrompt, findSession } from "#engine/sessions/index.ts";
import { isEnded, isHeldBack } from "#features/delegation/index.ts";
import { isGuestThread } from "#protocol/notices/guests.ts";
import type { MessageRelation, NoticeMessage, NoticeOf } from "#protocol/notices/notices.ts";
import { isOrchestrator, MAIN_THREAD } from "#protocol/sessions.ts";
import type { MessageType } from "../contract.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { hintMessage } from "../sending/write-message.ts";
import {
  assignPrompt,
  listByPrompt,
  listHeldSessions,
  listUndelivered,
  listUndeliveredThreads,
  markHeld,
  releaseHeld,
} from "./agent-queries.ts";
import { guestOf, isGuestMessage } from "./guest.ts";

const MAIL_CHANNEL = "mail";
const PLATFORM = platformSender("mailbox", MAIL_CHANNEL);
/**
 * Messages per prompt; the next prompt delivers the rest. One person can have no more than this
 * waiting.
 */
const MAX_PER_PROMPT = 200;

/** Message types that wake a hibernated agent. */
const WAKING: ReadonlySet<MessageType> = new Set(["question", "escalation", "approval"]);

/** Delivers a new message to a locked session. */
export async function deliver(
  work: Work,
  session: SessionWriter,
  message: MessageRow,
): Promise<void> {
  hintOwners(work, [message]);
  if (isEnded(session.row)) return;
  if (session.row.lifecycle === "hibernated" && !(await wakesSession(work, session.row, message)))
    return;
  await deliverPending(work, session, message.to_thread ?? MAIN_THREAD, groupOf(message));
}

async function wakesSession(work: Work, row: SessionRow, message: MessageRow): Promise<boolean> {
  if (row.awaiting === 1 || WAKING.has(message.message_type)) return true;
  if (message.reply_to_id === null) return false;
  const answered = await findMessage(work.tx, message.reply_to_id);
  return answered?.message_type === "question" && answered.from_session_id === row.id;
}

/**
 * Delivers pending messages of all threads at the end of the command, after an agent became active.
 */
export function deliverAllPending(work: Work, session: SessionWriter): void {
  deliverAtEnd(work, { sessionId: session.row.id, source: "mailbox" }, async () => {
    for (const thread of await listUndeliveredThreads(work.tx, session.row.id))
      await deliverPending(work, session, thread);
  });
}

/** `cause`: group of the message that triggers the delivery. */
export async function deliverPending(
  work: Work,
  session: SessionWriter,
  thread: string,
  cause?: string,
): Promise<void> {
  if (isEnded(session.row)) return;
  const undelivered = await listUndelivered(work.tx, session.row.id, thread);
  const groups = new Set(
    undelivered.filter(({ prompt_id }) => prompt_id === null).map((message) => groupOf(message)),
  );
  for (const group of groups) {
    // A person's prompt may be refused while the session is hibernated. The present sender must not
    // fail for that, so the person's messages wait. If the session wakes anyway, it gets them all.
    const isOthers = group === PERSON && cause !== PERSON;
    if (isOthers && session.row.lifecycle === "hibernated") continue;
    const pending = undelivered.filter((message) => groupOf(message) === group);
    await deliverNotice(work, session, sourceOf(work, session, thread, pending));
  }
}

const PERSON = "person";

/** `person` for the owner, `own` for the owner's sessions, otherwise one group per guest. */
function groupOf(message: MessageRow): string {
  if (isGuestMessage(message)) return `guest:${guestOf(message.from_owner_id)}`;
  return message.from_user_id === null ? "own" : PERSON;
}

function audienceOf(group: string): NoticeOf<"messages">["from"] {
  return group.startsWith("guest:") ? "guest" : group === PERSON ? "person" : "own";
}

/** `pending`: messages of one group. */
function sourceOf(
  work: Work,
  session: SessionWriter,
  thread: string,
  pending: readonly MessageRow[],
): NoticeSource<MessageRow> {
  const [first] = pending;
  const isPerson = first !== undefined && groupOf(first) === PERSON;
  return {
    thread,
    sender: senderOf(first, isPerson),
    pending,
    limit: MAX_PER_PROMPT,
    compose: (messages) => noticeOf(work, session.row, messages),
    assign: (messages, promptId) => assignPrompt(work.tx, messages, promptId),
    isHeld: async () => !isPerson && (await isHeldBack(work, session, thread)),
    hold: (messages) => markHeld(work.tx, messages),
  };
}

/** A person's message carries their name and follows the session's queue mode. */
function senderOf(first: MessageRow | undefined, isPerson: boolean): NoticeSender {
  const origin = { ...PLATFORM.origin, replyRef: first?.id ?? null };
  // Only the owner may interrupt the agent, or have messages merged with other prompts.
  if (!first || !isPerson) return { ...PLATFORM, origin };
  const userId = first.from_user_id as string;
  return {
    author: { kind: "user", id: userId, name: first.from_name },
    origin,
    createdBy: `user:${userId}`,
    mode: undefined,
  };
}

async function noticeOf(
  work: Work,
  reader: SessionRow,
  messages: readonly MessageRow[],
): Promise<NoticeOf<"messages">> {
  const [first] = messages as [MessageRow];
  const from = audienceOf(groupOf(first));
  const isInGuestThread = isOrchestrator(reader) && isGuestThread(first.to_thread ?? MAIN_THREAD);
  return {
    kind: "messages",
    from,
    isGuest: from === "guest" || isInGuestThread,
    toHandle: from === "guest" ? first.to_handle : null,
    items: await relate(work, reader, messages),
  };
}

/** Messages in the form of a notice, with the relation of each sender to the reader. */
export async function relate(
  work: Work,
  reader: SessionRow,
  messages: readonly MessageRow[],
): Promise<NoticeMessage[]> {
  const related: NoticeMessage[] = [];
  for (const message of messages) {
    const isSession = message.from_session_id !== null;
    related.push({
      id: message.id,
      type: message.message_type,
      from: {
        kind: isSession ? "session" : "user",
        id: message.from_session_id ?? message.from_user_id ?? "",
        name: message.from_name,
        handle: message.from_handle,
      },
      relation: await relationOf(work, reader, message),
      replyToId: message.reply_to_id,
      about: {
        sessionId: message.context_session_id,
        taskId: message.context_task_id,
        ref: message.context_ref,
      },
      text: message.content,
    });
  }
  return related;
}

async function relationOf(
  work: Work,
  reader: SessionRow,
  message: MessageRow,
): Promise<MessageRelation> {
  const { from_session_id: fromId } = message;
  if (isGuestMessage(message)) {
    if (message.from_owner_id === null) return "org";
    return fromId === null ? "guest_person" : "guest_agent";
  }
  if (fromId === null) return "person";
  if (fromId === reader.parent_session_id) return "parent";
  const from = await findSession(work.tx, fromId);
  if (!from) return "own";
  if (from.parent_session_id === reader.id) return "child";
  if (isOrchestrator(from)) return "orchestrator";
  const isSibling =
    from.parent_session_id !== null && from.parent_session_id === reader.parent_session_id;
  return isSibling ? "sibling" : "own";
}

/** Messages that can still be removed from the prompt that would deliver them. */
export async function withdrawable(
  work: Work,
  messages: readonly MessageRow[],
): Promise<MessageRow[]> {
  const prompts = await promptsOf(work, messages);
  const closed = new Set([...prompts].flatMap(([id, one]) => (one && isMailOpen(one) ? [] : id)));
  return messages.filter(({ prompt_id }) => prompt_id === null || !closed.has(prompt_id));
}

const isMailOpen = (prompt: PromptRow) => isOpen(prompt, PLATFORM);

async function promptsOf(
  work: Work,
  messages: readonly MessageRow[],
): Promise<Map<string, PromptRow | undefined>> {
  const prompts = new Map<string, PromptRow | undefined>();
  for (const id of new Set(messages.flatMap(({ prompt_id }) => prompt_id ?? [])))
    prompts.set(id, await findPrompt(work.tx, id));
  return prompts;
}

/** Rewrites the prompts of messages that were taken, or withdraws a prompt with none left. */
export async function refreshPrompts(
  work: Work,
  session: SessionWriter,
  taken: readonly MessageRow[],
): Promise<void> {
  for (const [promptId, prompt] of await promptsOf(work, taken)) {
    if (!prompt) continue;
    const left = (await listByPrompt(work.tx, promptId)).filter(({ fate }) => fate === "waiting");
    await refreshNotice(work, session, prompt, sourceOf(work, session, prompt.thread, left));
  }
}

/**
 * Releases held messages of a tree after a person wrote. A hibernated session gets them only if
 * they wake it.
 */
export async function release(work: Work, { row }: SessionWriter): Promise<void> {
  for (const id of await listHeldSessions(work.tx, row.org_id, row.root_session_id)) {
    const session = await work.session(id);
    if (!session) continue;
    await releaseHeld(work.tx, id);
    deliverAtEnd(work, { sessionId: id, source: "mailbox" }, () => deliverDue(work, session));
  }
}

async function deliverDue(work: Work, session: SessionWriter): Promise<void> {
  for (const thread of await listUndeliveredThreads(work.tx, session.row.id)) {
    const isDue =
      session.row.lifecycle !== "hibernated" || (await isAnyWaking(work, session.row, thread));
    if (isDue) await deliverPending(work, session, thread);
  }
}

async function isAnyWaking(work: Work, row: SessionRow, thread: string): Promise<boolean> {
  for (const message of await listUndelivered(work.tx, row.id, thread))
    if (await wakesSession(work, row, message)) return true;
  return false;
}

/** Hints to both owners that these messages changed. */
export function hintOwners(work: Work, messages: readonly MessageRow[]): void {
  for (const message of messages) {
    const owners = new Set([message.from_owner_id, message.to_owner_id]);
    for (const ownerId of owners) if (ownerId !== null) hintMessage(work, ownerId, message.id);
  }
}
