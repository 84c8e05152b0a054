/**
 * Draft of a message: the part that its writer decides. Writing it fills in the rest of the row.
 */
import type { MessageEventType, MessageFate, MessageType } from "../contract.ts";
import type { MessageRow } from "../schema.ts";

/** Sender or recipient of a message, from the server's rows. */
export interface MessageSide {
  kind: "session" | "user";
  id: string;
  /** Owner of this side; null for the organisation. */
  ownerId: string | null;
  /** Present name. */
  name: string;
  /** Handle of an orchestrator, without the @. */
  handle?: string | null;
  /** Thread of a session that the message was written in, or is read in. */
  thread?: string | null;
}

export interface MessageDraft {
  /** Id minted by a caller that needs it in advance; by default a new one. */
  id?: string;
  orgId: string;
  from: MessageSide;
  to: MessageSide;
  type: MessageType;
  event?: MessageEventType | null;
  content: string;
  /** Message that this one answers; they share a thread. */
  replyTo?: Pick<MessageRow, "id" | "thread_id"> | undefined;
  contextSessionId?: string | null;
  contextTaskId?: string | null;
  contextRef?: string | null;
  hops?: number;
  /** Defaults to "delivered" for a person and "waiting" for an agent. */
  fate?: MessageFate;
  fateReason?: string | null;
  /** Prompt that delivers the message to its agent. */
  promptId?: string | null;
  /** True for a message that needs no action and arrives already read. */
  isRead?: boolean;
  /** One cause writes one message; a second write returns the first message. */
  causeKey?: string | null;
}

export function rowOf(draft: MessageDraft, id: string, now: number): MessageRow {
  const isToPerson = draft.to.kind === "user";
  const fate = draft.fate ?? (isToPerson ? "delivered" : "waiting");
  // A failed message to a person is archived and does not count as unread.
  const putAwayAt = fate === "failed" && isToPerson ? now : null;
  return {
    id,
    org_id: draft.orgId,
    ...answers(draft, id),
    ...senderOf(draft.from),
    ...recipientOf(draft.to),
    ...aboutOf(draft),
    message_type: draft.type,
    content: draft.content,
    hops: draft.hops ?? 0,
    fate,
    fate_reason: draft.fateReason ?? null,
    prompt_id: draft.promptId ?? null,
    decision: null,
    let_through_at: null,
    read_at: draft.isRead === true ? now : putAwayAt,
    archived_at: putAwayAt,
    snoozed_until: null,
    surfaced_at: now,
    cause_key: draft.causeKey ?? null,
    created_at: now,
  };
}

function answers({ replyTo }: MessageDraft, id: string) {
  return replyTo
    ? { thread_id: replyTo.thread_id, reply_to_id: replyTo.id }
    : { thread_id: id, reply_to_id: null };
}

function senderOf({ kind, id, ownerId, name, handle = null, thread = null }: MessageSide) {
  return {
    from_session_id: kind === "session" ? id : null,
    from_user_id: kind === "user" ? id : null,
    from_owner_id: kind === "user" ? id : ownerId,
    from_name: name,
    from_handle: handle,
    from_thread: thread,
  };
}

function recipientOf({ kind, id, ownerId, name, handle = null, thread = null }: MessageSide) {
  return {
    to_session_id: kind === "session" ? id : null,
    to_user_id: kind === "user" ? id : null,
    to_owner_id: kind === "user" ? id : ownerId,
    to_name: name,
    to_handle: handle,
    to_thread: thread,
  };
}

function aboutOf({ event, contextSessionId, contextTaskId, contextRef }: MessageDraft) {
  return {
    event_type: event ?? null,
    context_session_id: contextSessionId ?? null,
    context_task_id: contextTaskId ?? null,
    context_ref: contextRef ?? null,
  };
}
