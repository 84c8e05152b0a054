/** API views of messages. */
import { isoTime } from "#engine/sessions/index.ts";
import { isGuestMessage } from "./agents/guest.ts";
import type { MailMessage, MessageParty } from "./contract.ts";
import type { MessageRow } from "./schema.ts";
import { contextUrl } from "./sending/context-url.ts";

const timeOf = (at: number | null) => (at === null ? null : isoTime(at));

/** Read, archive and snooze state is shown only to the recipient's side. */
export function messageView(row: MessageRow, { userId }: { userId: string }): MailMessage {
  const isRecipient = row.to_owner_id === userId;
  const readAt = isRecipient ? timeOf(row.read_at) : null;
  return {
    id: row.id,
    threadId: row.thread_id,
    replyToId: row.reply_to_id,
    from: partyOf(row.from_session_id, row.from_user_id, row.from_name, row.from_handle),
    to: partyOf(row.to_session_id, row.to_user_id, row.to_name, row.to_handle),
    messageType: row.message_type,
    eventType: row.event_type,
    content: row.content,
    contextSessionId: row.context_session_id,
    contextTaskId: row.context_task_id,
    contextRef: row.context_ref,
    decision: row.decision,
    contextUrl: contextUrl(row.context_ref),
    fate: row.fate,
    fateReason: row.fate_reason,
    mayLetThrough:
      isRecipient &&
      row.to_session_id !== null &&
      isGuestMessage(row) &&
      row.let_through_at === null,
    letThroughAt: isRecipient ? timeOf(row.let_through_at) : null,
    read: readAt !== null,
    readAt,
    archivedAt: isRecipient ? timeOf(row.archived_at) : null,
    snoozedUntil: isRecipient ? timeOf(row.snoozed_until) : null,
    createdAt: isoTime(row.created_at),
  };
}

function partyOf(
  sessionId: string | null,
  userId: string | null,
  name: string,
  handle: string | null,
): MessageParty {
  return sessionId === null
    ? { kind: "user", id: userId ?? "", name, handle }
    : { kind: "session", id: sessionId, name, handle };
}
