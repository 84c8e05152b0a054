/**
 * The inbox of a parent: what it was told and what it is yet to be told, newest first. 200 are kept;
 * those that were told go first, and those that were not are never dropped but folded together.
 */
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import { isoTime } from "#engine/sessions/index.ts";
import type { InboxItem, WorkerEventPayload } from "../contract.ts";
import { foldEvents } from "./fold.ts";
import {
  deleteEvents,
  type EventHead,
  type EventWithFate,
  getEvents,
  listEventHeads,
  listInbox,
} from "./inbox-queries.ts";
import { cutText } from "./words.ts";

export const INBOX_KEPT = 200;
/** Counted to be sure that all of them are seen. */
const INBOX_SEEN = INBOX_KEPT * 2;
/** Of what a child said, in a list; the whole is in its transcript. */
const LISTED_CHARS = 2_000;

export async function readInbox(reader: Reader, parentId: string): Promise<InboxItem[]> {
  return (await listInbox(reader, parentId, INBOX_KEPT)).map(itemOf);
}

function itemOf(row: EventWithFate): InboxItem {
  const payload = JSON.parse(row.payload) as WorkerEventPayload & Record<string, unknown>;
  return {
    id: row.id,
    type: row.type,
    workerId: row.child_id,
    workerName: row.child_name,
    at: isoTime(row.at),
    delivered: isTold(row),
    payload: withReadOn(cutText(payload, LISTED_CHARS), row.child_id),
  };
}

/** Of a text that is cut, the route that has all of it. */
function withReadOn<P extends WorkerEventPayload>(payload: P, childId: string): P {
  return payload.isCut ? { ...payload, readOn: `/api/sessions/${childId}/transcript` } : payload;
}

const isTold = ({ read_at, started_at }: EventHead) => read_at !== null || started_at !== null;

/** A thread is told of its own children only, so what is folded is of one thread: the fullest. */
function fullestThread(rows: readonly EventHead[]): EventHead[] {
  const threads = Map.groupBy(rows, ({ thread }) => thread);
  return [...threads.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

/** What children said in passing is folded before what became of them. */
function leastTellingFirst(rows: readonly EventHead[]): EventHead[] {
  const isNotice = ({ type }: EventHead) => type === "worker.notified";
  return [...rows.filter(isNotice), ...rows.filter((row) => !isNotice(row))];
}

/** `count`: of all there are. */
export async function makeRoom(work: Work, parentId: string, count: number): Promise<void> {
  const tooMany = count - INBOX_KEPT;
  if (tooMany <= 0) return;
  const heads = await listEventHeads(work.tx, parentId, INBOX_SEEN);
  const told = heads.filter(isTold).slice(0, tooMany);
  await deleteEvents(
    work.tx,
    told.map(({ id }) => id),
  );
  if (told.length === tooMany) return;
  // One of them stays, for all.
  const folded = leastTellingFirst(fullestThread(heads.filter((head) => !isTold(head)))).slice(
    0,
    tooMany - told.length + 1,
  );
  await foldEvents(
    work,
    await getEvents(
      work.tx,
      folded.map(({ id }) => id),
    ),
  );
}
