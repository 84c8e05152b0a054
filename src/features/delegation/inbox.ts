/**
 * The inbox of a parent: what it was told and what it is yet to be told, newest first. 200 are kept;
 * those that were told go first, and those that were not are never dropped but folded together.
 */
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import { isoTime } from "#engine/sessions/index.ts";
import type { InboxItem, WorkerEventPayload } from "./contract.ts";
import { foldEvents } from "./fold.ts";
import { countInbox, deleteEvents, type EventWithFate, listInbox } from "./queries.ts";

export const INBOX_KEPT = 200;
/** Counted to be sure that all of them are seen. */
const INBOX_SEEN = INBOX_KEPT * 2;

export async function readInbox(reader: Reader, parentId: string): Promise<InboxItem[]> {
  return (await listInbox(reader, parentId, INBOX_SEEN)).map(itemOf);
}

function itemOf(row: EventWithFate): InboxItem {
  return {
    id: row.id,
    type: row.type,
    workerId: row.child_id,
    workerName: row.child_name,
    at: isoTime(row.at),
    delivered: isTold(row),
    payload: JSON.parse(row.payload) as WorkerEventPayload & Record<string, unknown>,
  };
}

const isTold = ({ read_at, started_at }: EventWithFate) => read_at !== null || started_at !== null;

/** A thread is told of its own children only, so what is folded is of one thread: the fullest. */
function fullestThread(rows: readonly EventWithFate[]): EventWithFate[] {
  const threads = Map.groupBy(rows, ({ thread }) => thread);
  return [...threads.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

export async function makeRoom(work: Work, parentId: string): Promise<void> {
  const tooMany = (await countInbox(work.tx, parentId)) - INBOX_KEPT;
  if (tooMany <= 0) return;
  const rows = (await listInbox(work.tx, parentId, INBOX_SEEN)).reverse();
  const told = rows.filter(isTold).slice(0, tooMany);
  await deleteEvents(
    work.tx,
    told.map(({ id }) => id),
  );
  if (told.length === tooMany) return;
  const fullest = fullestThread(rows.filter((row) => !isTold(row)));
  await foldEvents(work, fullest, fullest.length - (tooMany - told.length));
}
