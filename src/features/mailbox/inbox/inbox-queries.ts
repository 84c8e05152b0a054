/** SQL on messages as people see them: folders, threads and unread messages. */
import { builder, type Reader, type Tx } from "#base/store/index.ts";
import type { Person } from "#engine/index.ts";
import type { MailFolder, MessageType } from "../contract.ts";
import type { MailboxTables, MessageRow } from "../schema.ts";

interface PagePosition {
  at: number;
  id: string;
}

export interface MessageFilter {
  unreadOnly?: boolean | undefined;
  messageType?: MessageType | undefined;
  fromSessionId?: string | undefined;
  fromUserId?: string | undefined;
  contextSessionId?: string | undefined;
  contextTaskId?: string | undefined;
  contextRef?: string | undefined;
}

type Instant = "surfaced_at" | "snoozed_until" | "archived_at" | "created_at";
/** Sort key per folder; each has an index that starts with the owner. */
const ORDER: Readonly<Record<MailFolder, { by: Instant; way: "asc" | "desc" }>> = {
  inbox: { by: "surfaced_at", way: "desc" },
  // The message that returns next comes first.
  snoozed: { by: "snoozed_until", way: "asc" },
  archived: { by: "archived_at", way: "desc" },
  sent: { by: "created_at", way: "desc" },
  all: { by: "created_at", way: "desc" },
};

export function positionIn(box: MailFolder) {
  const { by } = ORDER[box];
  return (row: MessageRow): PagePosition => ({ at: row[by] ?? 0, id: row.id });
}

export function listMessages(
  reader: Reader,
  { orgId, userId }: Person,
  box: MailFolder,
  filter: MessageFilter,
  { after, limit }: { after: PagePosition | undefined; limit: number },
): Promise<MessageRow[]> {
  const { by, way } = ORDER[box];
  const mine = box === "sent" ? "from_user_id" : "to_user_id";
  let query = builder<MailboxTables>(reader.dialect)
    .selectFrom("messages")
    .selectAll()
    .where(mine, "=", userId)
    .where("org_id", "=", orgId);
  if (box === "inbox")
    query = query.where("archived_at", "is", null).where("snoozed_until", "is", null);
  if (box === "snoozed") query = query.where("snoozed_until", "is not", null);
  if (box === "archived") query = query.where("archived_at", "is not", null);
  if (filter.unreadOnly) query = query.where("read_at", "is", null);
  for (const [column, value] of equalsOf(filter)) query = query.where(column, "=", value);
  if (after) {
    const beyond = way === "desc" ? "<" : ">";
    // This condition alone lets the index scan start at the end of the previous page.
    query = query
      .where(by, `${beyond}=`, after.at)
      .where((eb) => eb.or([eb(by, beyond, after.at), eb("id", beyond, after.id)]));
  }
  return reader.query<MessageRow>(query.orderBy(by, way).orderBy("id", way).limit(limit).compile());
}

type Equal = "message_type" | "from_session_id" | "from_user_id" | ContextColumn;
type ContextColumn = "context_session_id" | "context_task_id" | "context_ref";

function equalsOf(filter: MessageFilter): [Equal, string][] {
  const wanted: [Equal, string | undefined][] = [
    ["message_type", filter.messageType],
    ["from_session_id", filter.fromSessionId],
    ["from_user_id", filter.fromUserId],
    ["context_session_id", filter.contextSessionId],
    ["context_task_id", filter.contextTaskId],
    ["context_ref", filter.contextRef],
  ];
  return wanted.filter((one): one is [Equal, string] => one[1] !== undefined);
}

/** Lists messages to a person about sessions completed since an instant, newest first. */
export function listDoneSince(
  reader: Reader,
  { orgId, userId }: Person,
  { since, limit }: { since: number; limit: number },
): Promise<Pick<MessageRow, "id" | "from_name">[]> {
  return reader.query(
    builder<MailboxTables>(reader.dialect)
      .selectFrom("messages")
      .select(["id", "from_name"])
      .where("to_user_id", "=", userId)
      .where("org_id", "=", orgId)
      .where("message_type", "=", "notification")
      .where("event_type", "=", "session.completed")
      .where("surfaced_at", ">=", since)
      .orderBy("surfaced_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .compile(),
  );
}

/** Lists the messages of a thread that this person's side sent or received, oldest first. */
export function listThread(
  reader: Reader,
  { orgId, userId }: Person,
  threadId: string,
  { after, limit }: { after: PagePosition | undefined; limit: number },
): Promise<MessageRow[]> {
  let query = builder<MailboxTables>(reader.dialect)
    .selectFrom("messages")
    .selectAll()
    .where("thread_id", "=", threadId)
    .where("org_id", "=", orgId)
    .where((eb) => eb.or([eb("from_owner_id", "=", userId), eb("to_owner_id", "=", userId)]));
  if (after)
    query = query
      .where("created_at", ">=", after.at)
      .where((eb) => eb.or([eb("created_at", ">", after.at), eb("id", ">", after.id)]));
  return reader.query<MessageRow>(query.orderBy("created_at").orderBy("id").limit(limit).compile());
}

/** Lists messages unread in the inbox up to an instant, oldest first. */
export function listUnread(
  reader: Reader,
  { orgId, userId }: Person,
  {
    types,
    until,
    after,
    limit,
  }: {
    types: readonly MessageType[] | undefined;
    until: number;
    after: PagePosition | undefined;
    limit: number;
  },
): Promise<Pick<MessageRow, "id" | "surfaced_at">[]> {
  let query = builder<MailboxTables>(reader.dialect)
    .selectFrom("messages")
    .select(["id", "surfaced_at"])
    .where("to_user_id", "=", userId)
    .where("org_id", "=", orgId)
    .where("read_at", "is", null)
    .where("archived_at", "is", null)
    .where("snoozed_until", "is", null)
    .where("surfaced_at", "<=", until);
  if (types) query = query.where("message_type", "in", types);
  if (after)
    query = query
      .where("surfaced_at", ">=", after.at)
      .where((eb) => eb.or([eb("surfaced_at", ">", after.at), eb("id", ">", after.id)]));
  return reader.query(query.orderBy("surfaced_at").orderBy("id").limit(limit).compile());
}

/** Marks those of `ids` that are unread in the inbox as read, and returns their number. */
export function markRead(
  tx: Tx,
  { orgId, userId }: Person,
  ids: readonly string[],
): Promise<number> {
  return tx.execute(
    builder<MailboxTables>(tx.dialect)
      .updateTable("messages")
      .set({ read_at: tx.now })
      .where("id", "in", ids)
      .where("org_id", "=", orgId)
      .where("to_user_id", "=", userId)
      .where("read_at", "is", null)
      .where("archived_at", "is", null)
      .where("snoozed_until", "is", null)
      .compile(),
  );
}
