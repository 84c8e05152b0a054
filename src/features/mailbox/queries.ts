/** SQL on messages and inboxes: writing messages and changing those to people. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { Person } from "#engine/index.ts";
import type { InboxRow, MailboxTables, MessageRow } from "./schema.ts";

const prepare = statements<MailboxTables>();

const COLUMNS = [
  "id",
  "org_id",
  "thread_id",
  "reply_to_id",
  "from_session_id",
  "from_user_id",
  "from_owner_id",
  "from_name",
  "from_handle",
  "from_thread",
  "to_session_id",
  "to_user_id",
  "to_owner_id",
  "to_name",
  "to_handle",
  "to_thread",
  "message_type",
  "event_type",
  "content",
  "context_session_id",
  "context_task_id",
  "context_ref",
  "decision",
  "let_through_at",
  "hops",
  "fate",
  "fate_reason",
  "prompt_id",
  "read_at",
  "archived_at",
  "snoozed_until",
  "surfaced_at",
  "cause_key",
  "created_at",
] as const satisfies readonly (keyof MessageRow)[];

// Single messages

const insertMessageRow = prepare<MessageRow, unknown>((db, p) =>
  db
    .insertInto("messages")
    .values(Object.fromEntries(COLUMNS.map((name) => [name, p(name)])) as unknown as MessageRow)
    .onConflict((conflict) => conflict.column("cause_key").doNothing()),
);
/** Returns false if a message with the same cause key already exists. */
export async function insertMessage(tx: Tx, row: MessageRow): Promise<boolean> {
  return (await tx.run(insertMessageRow, row)) > 0;
}

const selectMessage = prepare<{ id: string }, MessageRow>((db, p) =>
  db.selectFrom("messages").selectAll().where("id", "=", p("id")),
);
/** Finds a message of any owner; the caller checks access before showing it. */
export function findMessage(reader: Reader, id: string): Promise<MessageRow | undefined> {
  return reader.first(selectMessage, { id });
}

const selectByCause = prepare<{ causeKey: string }, MessageRow>((db, p) =>
  db.selectFrom("messages").selectAll().where("cause_key", "=", p("causeKey")),
);
export function findByCause(reader: Reader, causeKey: string): Promise<MessageRow | undefined> {
  return reader.first(selectByCause, { causeKey });
}

// Inboxes

const insertInbox = prepare<Person, unknown>((db, p) =>
  db
    .insertInto("inboxes")
    .values({ org_id: p("orgId"), user_id: p("userId"), unread: 0 })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doNothing()),
);
const selectInboxToChange = prepare<Person, InboxRow>((db, p, dialect) => {
  const query = db
    .selectFrom("inboxes")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/** Locks the inbox until the command ends, and creates it if it is missing. */
export async function lockInbox(tx: Tx, { orgId, userId }: Person): Promise<InboxRow> {
  const known = await tx.first(selectInboxToChange, { orgId, userId });
  if (known) return known;
  await tx.run(insertInbox, { orgId, userId });
  return (await tx.first(selectInboxToChange, { orgId, userId })) as InboxRow;
}

const addUnread = prepare<Person & { by: number }, unknown>((db, p) =>
  db
    .updateTable("inboxes")
    .set((eb) => ({ unread: eb("unread", "+", p("by")) }))
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
/** Changes the unread count; the caller holds the inbox lock. */
export async function countUnread(tx: Tx, { orgId, userId }: Person, by: number): Promise<void> {
  if (by !== 0) await tx.run(addUnread, { orgId, userId, by });
}

const selectInbox = prepare<Person, InboxRow>((db, p) =>
  db
    .selectFrom("inboxes")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export async function readUnread(reader: Reader, { orgId, userId }: Person): Promise<number> {
  return (await reader.first(selectInbox, { orgId, userId }))?.unread ?? 0;
}

// Changes to messages. A message to a person changes only while their inbox is locked.

export type MessageState = Pick<
  MessageRow,
  "id" | "read_at" | "archived_at" | "snoozed_until" | "surfaced_at"
>;
const updateState = prepare<MessageState, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({
      read_at: p("read_at"),
      archived_at: p("archived_at"),
      snoozed_until: p("snoozed_until"),
      surfaced_at: p("surfaced_at"),
    })
    .where("id", "=", p("id")),
);
export function saveState(
  tx: Tx,
  { id, read_at, archived_at, snoozed_until, surfaced_at }: MessageState,
): Promise<number> {
  return tx.run(updateState, { id, read_at, archived_at, snoozed_until, surfaced_at });
}

export type MessageReplacement = Pick<
  MessageRow,
  | "id"
  | "message_type"
  | "event_type"
  | "from_thread"
  | "context_ref"
  | "content"
  | "surfaced_at"
  | "created_at"
>;
const updateReplacement = prepare<MessageReplacement, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({
      message_type: p("message_type"),
      event_type: p("event_type"),
      from_thread: p("from_thread"),
      context_ref: p("context_ref"),
      content: p("content"),
      surfaced_at: p("surfaced_at"),
      created_at: p("created_at"),
    })
    .where("id", "=", p("id")),
);
/** Replaces the content of a platform message with newer information. */
export function saveReplacement(tx: Tx, row: MessageReplacement): Promise<number> {
  const { id, message_type, event_type, from_thread, context_ref, content } = row;
  const { surfaced_at, created_at } = row;
  const fields = { message_type, event_type, from_thread, context_ref, content };
  return tx.run(updateReplacement, { id, ...fields, surfaced_at, created_at });
}

const updateDecision = prepare<Pick<MessageRow, "id" | "decision">, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ decision: p("decision") })
    .where("id", "=", p("id")),
);
export function saveDecision(
  tx: Tx,
  { id, decision }: Pick<MessageRow, "id" | "decision">,
): Promise<number> {
  return tx.run(updateDecision, { id, decision });
}

const updateLetThrough = prepare<{ id: string; at: number }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ let_through_at: p("at") })
    .where("id", "=", p("id"))
    .where("let_through_at", "is", null),
);
/** Keeps the time of the first call. */
export function saveLetThrough(tx: Tx, id: string, at: number): Promise<number> {
  return tx.run(updateLetThrough, { id, at });
}

const forgetCauseOf = prepare<{ id: string }, unknown>((db, p) =>
  db.updateTable("messages").set({ cause_key: null }).where("id", "=", p("id")),
);
const selectPlatformMessages = prepare<
  { sessionId: string; limit: number },
  Pick<MessageRow, "id" | "content">
>((db, p) =>
  db
    .selectFrom("messages")
    .select(["id", "content"])
    .where("from_session_id", "=", p("sessionId"))
    .where("event_type", "is not", null)
    .orderBy("created_at", "desc")
    .limit(p("limit")),
);
/** Lists the newest messages that the platform wrote about a session. */
export function listPlatformMessages(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<Pick<MessageRow, "id" | "content">[]> {
  return reader.all(selectPlatformMessages, { sessionId, limit });
}

const updateContent = prepare<{ id: string; content: string }, unknown>((db, p) =>
  db
    .updateTable("messages")
    .set({ content: p("content") })
    .where("id", "=", p("id")),
);
export function saveContent(tx: Tx, id: string, content: string): Promise<number> {
  return tx.run(updateContent, { id, content });
}

/** Removes the cause key, so that the same cause may write another message. */
export function forgetCause(tx: Tx, id: string): Promise<number> {
  return tx.run(forgetCauseOf, { id });
}
