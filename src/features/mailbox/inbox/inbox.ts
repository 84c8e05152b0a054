/** Reading an inbox: folders, a thread, one message. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { command, type Engine, type Person } from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import type { Page } from "#protocol/page.ts";
import type { InboxQuery, MailMessage, ThreadQuery } from "../contract.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { isCounted } from "../sending/write-message.ts";
import { messageView } from "../views.ts";
import { markMessagesRead } from "./change-message.ts";
import { listMessages, listThread, positionIn } from "./inbox-queries.ts";

const THREAD = "messages:thread";

export async function listFolder(
  { store }: Pick<Engine, "store">,
  person: Person,
  { box, cursor, limit, ...filter }: InboxQuery,
): Promise<Page<MailMessage>> {
  const list = `messages:${box}`;
  const after = decodeCursor(list, cursor);
  // The read state of sent messages belongs to their recipients.
  if (box === "sent" && filter.unreadOnly) return { items: [], next: null };
  const range = { after, limit: limit + 1 };
  const rows = await store.read((reader) => listMessages(reader, person, box, filter, range));
  return pageOf(list, rows, limit, positionIn(box), (row) => messageView(row, person));
}

/** Reads a thread and marks its messages to this person as read. */
export async function readThread(
  engine: Engine,
  person: Person,
  threadId: string,
  { cursor, limit }: ThreadQuery,
): Promise<Page<MailMessage>> {
  const range = { after: decodeCursor(THREAD, cursor), limit: limit + 1 };
  const rows = await engine.store.read((reader) => listThread(reader, person, threadId, range));
  if (rows.length === 0 && cursor === undefined) throw notFound("message thread");
  const unread = rows.slice(0, limit).filter((row) => isUnreadBy(row, person));
  const ids = unread.map(({ id }) => id);
  const readAt =
    ids.length === 0
      ? null
      : await command(engine, async (work) => {
          await markMessagesRead(work, person, ids);
          return work.now;
        });
  return pageOf(
    THREAD,
    rows,
    limit,
    ({ created_at: at, id }) => ({ at, id }),
    (row) => messageView(ids.includes(row.id) ? { ...row, read_at: readAt } : row, person),
  );
}

function isUnreadBy(row: MessageRow, { userId }: Person): boolean {
  return row.to_user_id === userId && isCounted(row);
}

/** Finds a message that this person's side sent or received; any other counts as not found. */
export async function requireMessage(
  reader: Reader,
  { orgId, userId }: Person,
  id: string,
): Promise<MessageRow> {
  const row = await findMessage(reader, id);
  const isTheirs = row?.from_owner_id === userId || row?.to_owner_id === userId;
  if (row?.org_id !== orgId || !isTheirs) throw notFound("message");
  return row;
}
