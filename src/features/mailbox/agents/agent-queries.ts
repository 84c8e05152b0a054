/**
 * SQL on messages from and to agents. A message to a session changes only under the session's lock.
 */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { MailboxTables, MessageRow } from "../schema.ts";

type Tables = MailboxTables & KernelTables;
const prepare = statements<Tables>();

/**
 * Reason of messages that wait because the tree ran too long without a person; a person's prompt
 * releases them.
 */
export const HELD = "unattended_limit_reached";

// Messages that an agent has not received yet

const selectUndelivered = prepare<{ sessionId: string; thread: string; limit: number }, MessageRow>(
  (db, p) =>
    db
      .selectFrom("messages")
      .selectAll()
      .where("to_session_id", "=", p("sessionId"))
      .where("read_at", "is", null)
      .where("to_thread", "=", p("thread"))
      .where("fate", "=", "waiting")
      .orderBy("created_at")
      .orderBy("id")
      .limit(p("limit")),
);
const UNDELIVERED_LIMIT = 1_000;
/** Lists undelivered messages of a thread, oldest first. */
export function listUndelivered(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<MessageRow[]> {
  return reader.all(selectUndelivered, { sessionId, thread, limit: UNDELIVERED_LIMIT });
}

const selectUndeliveredThreads = prepare<{ sessionId: string }, { to_thread: string }>((db, p) =>
  db
    .selectFrom("messages")
    .select("to_thread")
    .distinct()
    .where("to_session_id", "=", p("sessionId"))
    .where("read_at", "is", null)
    .where("fate", "=", "waiting")
    .where("prompt_id", "is", null)
    .where("to_thread", "is not", null)
    .orderBy("to_thread")
    .$narrowType<{ to_thread: string }>(),
);
/** Lists threads that have waiting messages without a prompt to deliver them. */
export async function listUndeliveredThreads(reader: Reader, sessionId: string): Promise<string[]> {
  const rows = await reader.all(selectUndeliveredThreads, { sessionId });
  return rows.map(({ to_thread }) => to_thread);
}

const countWaitingOf = prepare<{ sessionId: string; thread: string }, { n: number }>((db, p) =>
  db
    .selectFrom("messages")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("to_session_id", "=", p("sessionId"))
    .where("read_at", "is", null)
    .where("fate", "=", "waiting")
    .where("to_thread", "<>", p("thread")),
);
/** Counts messages that wait in the session's other threads. */
export async function countElsewhere(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<number> {
  return Number((await reader.first(countWaitingOf, { sessionId, thread }))?.n ?? 0);
}

const setPrompt = prepare<{ id: string; promptId: string }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ prompt_id: p("promptId"), fate_reason: null })
    .where("id", "=", p("id")),
);
export async function assignPrompt(
  tx: Tx,
  rows: readonly MessageRow[],
  promptId: string,
): Promise<void> {
  for (const { id, prompt_id } of rows)
    if (prompt_id !== promptId) await tx.run(setPrompt, { id, promptId });
}

const clearPrompt = prepare<{ promptId: string }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ prompt_id: null })
    .where("prompt_id", "=", p("promptId"))
    .where("fate", "=", "waiting"),
);
/** Releases messages from a prompt that never started. */
export function unassignPrompt(tx: Tx, promptId: string): Promise<number> {
  return tx.run(clearPrompt, { promptId });
}

const changePrompt = prepare<{ from: string; to: string }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ prompt_id: p("to") })
    .where("prompt_id", "=", p("from")),
);
/** Reassigns messages to the prompt that replaces another one. */
export function reassignPrompt(tx: Tx, from: string, to: string): Promise<number> {
  return tx.run(changePrompt, { from, to });
}

const selectByPrompt = prepare<{ promptId: string }, MessageRow>((db, p) =>
  db
    .selectFrom("messages")
    .selectAll()
    .where("prompt_id", "=", p("promptId"))
    .orderBy("created_at")
    .orderBy("id"),
);
/** Lists messages that a prompt delivers, and those that the agent read itself during its turn. */
export function listByPrompt(reader: Reader, promptId: string): Promise<MessageRow[]> {
  return reader.all(selectByPrompt, { promptId });
}

const setDelivered = prepare<{ promptId: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ fate: "delivered", fate_reason: null, read_at: p("now") })
    .where("prompt_id", "=", p("promptId"))
    .where("fate", "=", "waiting"),
);
/** Marks messages as delivered when their prompt starts. */
export function markDelivered(tx: Tx, promptId: string, now: number): Promise<number> {
  return tx.run(setDelivered, { promptId, now });
}

const setRead = prepare<{ id: string; promptId: string | null; now: number }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ fate: "delivered", fate_reason: null, read_at: p("now"), prompt_id: p("promptId") })
    .where("id", "=", p("id")),
);
/**
 * Marks a message as read without a notice. `promptId` names the turn that read it; null if none
 * did.
 */
export function markReadBy(
  tx: Tx,
  id: string,
  promptId: string | null,
  now: number,
): Promise<number> {
  return tx.run(setRead, { id, promptId, now });
}

const setFailed = prepare<{ sessionId: string; reason: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ fate: "failed", fate_reason: p("reason"), read_at: p("now"), prompt_id: null })
    .where("to_session_id", "=", p("sessionId"))
    .where("read_at", "is", null)
    .where("fate", "=", "waiting"),
);
/** Fails all undelivered messages of a session. */
export function failWaiting(
  tx: Tx,
  sessionId: string,
  reason: string,
  now: number,
): Promise<number> {
  return tx.run(setFailed, { sessionId, reason, now });
}

const setUnwanted = prepare<{ id: string; reason: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ fate: "failed", fate_reason: p("reason"), read_at: p("now"), prompt_id: null })
    .where("id", "=", p("id")),
);
/** Fails one message, which will not be delivered, and stores the reason. */
export function failMessage(tx: Tx, id: string, reason: string, now: number): Promise<number> {
  return tx.run(setUnwanted, { id, reason, now });
}

const selectWaiting = prepare<{ sessionId: string; limit: number }, MessageRow>((db, p) =>
  db
    .selectFrom("messages")
    .selectAll()
    .where("to_session_id", "=", p("sessionId"))
    .where("read_at", "is", null)
    .where("fate", "=", "waiting")
    .orderBy("created_at")
    .orderBy("id")
    .limit(p("limit")),
);
/** Lists the undelivered messages of a session in all its threads. */
export function listWaiting(reader: Reader, sessionId: string): Promise<MessageRow[]> {
  return reader.all(selectWaiting, { sessionId, limit: UNDELIVERED_LIMIT });
}

// Messages held until a person writes

const setHeld = prepare<{ id: string }, unknown>((db, p) =>
  db.updateTable("messages").set({ fate_reason: HELD }).where("id", "=", p("id")),
);
export async function markHeld(tx: Tx, rows: readonly MessageRow[]): Promise<void> {
  for (const { id, fate_reason } of rows) if (fate_reason !== HELD) await tx.run(setHeld, { id });
}

const selectHeld = prepare<{ orgId: string; rootId: string }, { id: string }>((db, p) =>
  db
    .selectFrom("messages")
    .innerJoin("sessions", "sessions.id", "messages.to_session_id")
    .select("sessions.id")
    .distinct()
    .where("messages.org_id", "=", p("orgId"))
    // Repeats the condition of the partial index, which contains few other rows.
    .where("messages.to_session_id", "is not", null)
    .where("messages.read_at", "is", null)
    .where("messages.fate_reason", "is not", null)
    .where("messages.fate_reason", "=", HELD)
    .where("sessions.root_session_id", "=", p("rootId"))
    .orderBy("sessions.id"),
);
/** Lists the sessions of a tree that have held messages. */
export async function listHeldSessions(
  reader: Reader,
  orgId: string,
  rootId: string,
): Promise<string[]> {
  return (await reader.all(selectHeld, { orgId, rootId })).map(({ id }) => id);
}

const clearHeld = prepare<{ sessionId: string }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ fate_reason: null })
    .where("to_session_id", "=", p("sessionId"))
    .where("read_at", "is", null)
    .where("fate_reason", "=", HELD),
);
export function releaseHeld(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(clearHeld, { sessionId });
}

// Unread messages between two parties

interface SenderAndRecipient {
  from: { kind: "session" | "user"; id: string };
  to: { kind: "session" | "user"; id: string };
}

/** Stops counting at `limit`. */
export async function countUnreadBetween(
  reader: Reader,
  { from, to }: SenderAndRecipient,
  limit: number,
): Promise<number> {
  let query = builder<Tables>(reader.dialect)
    .selectFrom("messages")
    .select("id")
    .where(to.kind === "session" ? "to_session_id" : "to_user_id", "=", to.id);
  query =
    from.kind === "session"
      ? query.where("from_session_id", "=", from.id)
      : // Redundant, but the index has from_session_id before from_user_id.
        query.where("from_session_id", "is", null).where("from_user_id", "=", from.id);
  const unread = query
    .where("read_at", "is", null)
    .where("fate", "<>", "failed")
    // Messages of the platform about a session do not count as the session's own.
    .where("event_type", "is", null)
    // Without this order PostgreSQL expects to reach the limit sooner by a full scan.
    .orderBy("from_session_id")
    .orderBy("from_user_id")
    .orderBy("id")
    .limit(limit);
  return (await reader.query<{ id: string }>(unread.compile())).length;
}

// Messages as the session's owner sees them

export interface SessionMessages {
  sessionId: string;
  unreadOnly: boolean;
  before: { at: number; id: string } | undefined;
  limit: number;
}

/** Lists messages to a session, newest first. */
export function listSessionMessages(
  reader: Reader,
  filter: SessionMessages,
): Promise<MessageRow[]> {
  let query = builder<Tables>(reader.dialect)
    .selectFrom("messages")
    .selectAll()
    .where("to_session_id", "=", filter.sessionId);
  if (filter.unreadOnly) query = query.where("read_at", "is", null).where("fate", "=", "waiting");
  const { before } = filter;
  if (before) {
    // This condition alone lets the index scan start at the end of the previous page.
    query = query
      .where("created_at", "<=", before.at)
      .where((eb) => eb.or([eb("created_at", "<", before.at), eb("id", "<", before.id)]));
  }
  return reader.query<MessageRow>(
    query.orderBy("created_at", "desc").orderBy("id", "desc").limit(filter.limit).compile(),
  );
}
