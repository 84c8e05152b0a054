/**
 * Inbox of a parent: delivered and pending events, newest first. It keeps 200 events. Delivered
 * ones are dropped first; pending ones are never dropped but folded into one.
 */
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import { isoTime } from "#engine/sessions/index.ts";
import type { InboxItem, WorkerEventPayload } from "../contract.ts";
import { foldEvents } from "./fold.ts";
import {
  deleteEvents,
  type EventHead,
  type EventWithStart,
  getEvents,
  listEventHeads,
  listInbox,
} from "./inbox-queries.ts";
import { cutText } from "./words.ts";

export const INBOX_KEPT = 200;
/** Limit of events read at once; high enough to include all of them. */
const INBOX_SEEN = INBOX_KEPT * 2;
/** Limit of a child's text in a list; the transcript has all of it. */
const LISTED_CHARS = 2_000;

export async function readInbox(reader: Reader, parentId: string): Promise<InboxItem[]> {
  return (await listInbox(reader, parentId, INBOX_KEPT)).map(itemOf);
}

function itemOf(row: EventWithStart): InboxItem {
  const payload = JSON.parse(row.payload) as WorkerEventPayload & Record<string, unknown>;
  return {
    id: row.id,
    type: row.type,
    workerId: row.child_id,
    workerName: row.child_name,
    at: isoTime(row.at),
    delivered: isDelivered(row),
    payload: withReadOn(cutText(payload, LISTED_CHARS), row.child_id),
  };
}

/** Adds the route of the whole text to a shortened payload. */
function withReadOn<P extends WorkerEventPayload>(payload: P, childId: string): P {
  return payload.isCut ? { ...payload, readOn: `/api/sessions/${childId}/transcript` } : payload;
}

const isDelivered = ({ read_at, started_at }: EventHead) => read_at !== null || started_at !== null;

/**
 * A thread is notified only of its own children, so folding takes events of one thread: the
 * fullest.
 */
function fullestThread(rows: readonly EventHead[]): EventHead[] {
  const threads = Map.groupBy(rows, ({ thread }) => thread);
  return [...threads.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

/** Puts messages of children before their endings, so that messages are folded first. */
function messagesFirst(rows: readonly EventHead[]): EventHead[] {
  const isNotice = ({ type }: EventHead) => type === "worker.notified";
  return [...rows.filter(isNotice), ...rows.filter((row) => !isNotice(row))];
}

/** `count`: number of events in the inbox. */
export async function makeRoom(work: Work, parentId: string, count: number): Promise<void> {
  const tooMany = count - INBOX_KEPT;
  if (tooMany <= 0) return;
  const heads = await listEventHeads(work.tx, parentId, INBOX_SEEN);
  const delivered = heads.filter(isDelivered).slice(0, tooMany);
  await deleteEvents(
    work.tx,
    delivered.map(({ id }) => id),
  );
  if (delivered.length === tooMany) return;
  // One event more, because the folded event itself stays.
  const folded = messagesFirst(fullestThread(heads.filter((head) => !isDelivered(head)))).slice(
    0,
    tooMany - delivered.length + 1,
  );
  await foldEvents(
    work,
    await getEvents(
      work.tx,
      folded.map(({ id }) => id),
    ),
  );
}
