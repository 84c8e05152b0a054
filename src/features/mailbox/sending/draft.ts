/** A letter as its writer decides it; the rest of the row comes about when it is written. */
import type { LetterEvent, LetterFate, LetterType } from "../contract.ts";
import type { LetterRow } from "../schema.ts";

/** One end of a letter, from the server's rows. */
export interface LetterSide {
  kind: "session" | "user";
  id: string;
  /** The person behind it; null: the organisation's own. */
  ownerId: string | null;
  /** As it is called now. */
  name: string;
  /** Of an orchestrator, without the @. */
  handle?: string | null;
  /** Of a session: the conversation it was written in, or is read in. */
  thread?: string | null;
}

export interface LetterDraft {
  /** Minted by who must know it before; none: a new one. */
  id?: string;
  orgId: string;
  from: LetterSide;
  to: LetterSide;
  type: LetterType;
  event?: LetterEvent | null;
  content: string;
  /** The letter it answers, whose exchange it joins. */
  replyTo?: Pick<LetterRow, "id" | "thread_id"> | undefined;
  contextSessionId?: string | null;
  contextTaskId?: string | null;
  contextRef?: string | null;
  hops?: number;
  /** None: a person has it when it is written, an agent when it was told. */
  fate?: LetterFate;
  fateReason?: string | null;
  /** The prompt by which its agent is told. */
  promptId?: string | null;
  /** It asks for nothing, so it comes read. */
  isRead?: boolean;
  /** The same cause writes one letter: a second gives back the first. */
  causeKey?: string | null;
}

export function rowOf(draft: LetterDraft, id: string, now: number): LetterRow {
  const isToPerson = draft.to.kind === "user";
  const fate = draft.fate ?? (isToPerson ? "delivered" : "waiting");
  // What will not be read is nothing new to anybody.
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

function answers({ replyTo }: LetterDraft, id: string) {
  return replyTo
    ? { thread_id: replyTo.thread_id, reply_to_id: replyTo.id }
    : { thread_id: id, reply_to_id: null };
}

function senderOf({ kind, id, ownerId, name, handle = null, thread = null }: LetterSide) {
  return {
    from_session_id: kind === "session" ? id : null,
    from_user_id: kind === "user" ? id : null,
    from_owner_id: kind === "user" ? id : ownerId,
    from_name: name,
    from_handle: handle,
    from_thread: thread,
  };
}

function recipientOf({ kind, id, ownerId, name, handle = null, thread = null }: LetterSide) {
  return {
    to_session_id: kind === "session" ? id : null,
    to_user_id: kind === "user" ? id : null,
    to_owner_id: kind === "user" ? id : ownerId,
    to_name: name,
    to_handle: handle,
    to_thread: thread,
  };
}

function aboutOf({ event, contextSessionId, contextTaskId, contextRef }: LetterDraft) {
  return {
    event_type: event ?? null,
    context_session_id: contextSessionId ?? null,
    context_task_id: contextTaskId ?? null,
    context_ref: contextRef ?? null,
  };
}
