/** SQL on events for parents. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { DelegationTables, WorkerEventRow } from "../schema.ts";

const prepare = statements<DelegationTables & KernelTables>();

const eventColumns = [
  "id",
  "org_id",
  "session_id",
  "number",
  "thread",
  "child_id",
  "child_name",
  "type",
  "payload",
  "cause_key",
  "prompt_id",
  "read_at",
  "at",
] as const;
const selectLast = prepare<{ parentId: string }, { number: number | null; count: number }>(
  (db, p) =>
    db
      .selectFrom("worker_events")
      .select((eb) => [eb.fn.max("number").as("number"), eb.fn.countAll<number>().as("count")])
      .where("session_id", "=", p("parentId")),
);
const insertEventRow = inserter<WorkerEventRow>("worker_events", eventColumns);
/** Returns the number of events in the inbox. The parent is locked, so numbers are unique. */
export async function insertEvent(tx: Tx, row: Omit<WorkerEventRow, "number">): Promise<number> {
  const last = await tx.first(selectLast, { parentId: row.session_id });
  const number = Number(last?.number ?? 0) + 1;
  await tx.execute(insertEventRow(tx.dialect, [{ ...row, number }]));
  return Number(last?.count ?? 0) + 1;
}

const selectByCause = prepare<{ causeKey: string }, WorkerEventRow>((db, p) =>
  db.selectFrom("worker_events").selectAll().where("cause_key", "=", p("causeKey")),
);
export function findEvent(reader: Reader, causeKey: string): Promise<WorkerEventRow | undefined> {
  return reader.first(selectByCause, { causeKey });
}

/**
 * An event counts as delivered once its prompt has started; until then it can still be read in
 * another way.
 */
const selectPending = prepare<{ parentId: string; thread: string }, WorkerEventRow>((db, p) =>
  db
    .selectFrom("worker_events")
    .selectAll("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .where("worker_events.session_id", "=", p("parentId"))
    .where("worker_events.thread", "=", p("thread"))
    .where("worker_events.read_at", "is", null)
    .where("prompts.started_at", "is", null)
    .orderBy("worker_events.number"),
);
export function listPendingEvents(
  reader: Reader,
  parentId: string,
  thread: string,
): Promise<WorkerEventRow[]> {
  return reader.all(selectPending, { parentId, thread });
}

const countPendingOf = prepare<{ parentId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("worker_events.session_id", "=", p("parentId"))
    .where("worker_events.read_at", "is", null)
    .where("prompts.started_at", "is", null),
);
/** Counts undelivered events in all threads. */
export async function countPendingEvents(reader: Reader, parentId: string): Promise<number> {
  return Number((await reader.first(countPendingOf, { parentId }))?.count ?? 0);
}

const selectWaitingThreads = prepare<{ parentId: string }, { thread: string }>((db, p) =>
  db
    .selectFrom("worker_events")
    .select("thread")
    .distinct()
    .where("session_id", "=", p("parentId"))
    .where("read_at", "is", null)
    .where("prompt_id", "is", null)
    .orderBy("thread"),
);
/** Lists threads with events that no prompt delivers yet. */
export async function listPendingThreads(reader: Reader, parentId: string): Promise<string[]> {
  return (await reader.all(selectWaitingThreads, { parentId })).map(({ thread }) => thread);
}

const selectThreads = prepare<{ parentId: string }, { thread: string }>((db, p) =>
  db
    .selectFrom("worker_events")
    .select("thread")
    .distinct()
    .where("session_id", "=", p("parentId"))
    .where("read_at", "is", null)
    .orderBy("thread"),
);
/** Lists threads with events that the parent has not read itself. */
export async function listOpenThreads(reader: Reader, parentId: string): Promise<string[]> {
  return (await reader.all(selectThreads, { parentId })).map(({ thread }) => thread);
}

const dropInbox = prepare<{ parentId: string }, unknown>((db, p) =>
  db.deleteFrom("worker_events").where("session_id", "=", p("parentId")),
);
export function deleteInbox(tx: Tx, parentId: string): Promise<number> {
  return tx.run(dropInbox, { parentId });
}

const countNoticesOf = prepare<{ parentId: string; childId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("worker_events.session_id", "=", p("parentId"))
    .where("worker_events.child_id", "=", p("childId"))
    .where("worker_events.type", "=", "worker.notified")
    .where("worker_events.read_at", "is", null)
    .where("prompts.started_at", "is", null),
);
/** Counts a child's messages that its parent has not received. */
export async function countPendingNotices(
  reader: Reader,
  parentId: string,
  childId: string,
): Promise<number> {
  return Number((await reader.first(countNoticesOf, { parentId, childId }))?.count ?? 0);
}

export interface EventWithStart extends WorkerEventRow {
  started_at: number | null;
}

/** Event without its payload. */
export type EventHead = Pick<
  EventWithStart,
  "id" | "number" | "thread" | "type" | "read_at" | "started_at"
>;

const selectHeads = prepare<{ parentId: string; limit: number }, EventHead>((db, p) =>
  db
    .selectFrom("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select([
      "worker_events.id",
      "worker_events.number",
      "worker_events.thread",
      "worker_events.type",
      "worker_events.read_at",
      "prompts.started_at",
    ])
    .where("worker_events.session_id", "=", p("parentId"))
    .orderBy("worker_events.number")
    .limit(p("limit")),
);
/** Lists events oldest first. */
export function listEventHeads(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<EventHead[]> {
  return reader.all(selectHeads, { parentId, limit });
}

const selectEvent = prepare<{ id: string }, WorkerEventRow>((db, p) =>
  db.selectFrom("worker_events").selectAll().where("id", "=", p("id")),
);
export async function getEvents(reader: Reader, ids: readonly string[]): Promise<WorkerEventRow[]> {
  const rows: WorkerEventRow[] = [];
  for (const id of ids) {
    const row = await reader.first(selectEvent, { id });
    if (row) rows.push(row);
  }
  return rows;
}

const selectInbox = prepare<{ parentId: string; limit: number }, EventWithStart>((db, p) =>
  db
    .selectFrom("worker_events")
    .selectAll("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select("prompts.started_at")
    .where("worker_events.session_id", "=", p("parentId"))
    .orderBy("worker_events.number", "desc")
    .limit(p("limit")),
);
/** Lists events newest first. */
export function listInbox(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<EventWithStart[]> {
  return reader.all(selectInbox, { parentId, limit });
}

const setPrompt = prepare<{ id: string; promptId: string }, unknown>((db, p) =>
  db
    .updateTable("worker_events")
    .set({ prompt_id: p("promptId") })
    .where("id", "=", p("id")),
);
export async function markAnnounced(
  tx: Tx,
  rows: readonly WorkerEventRow[],
  promptId: string,
): Promise<void> {
  for (const { id, prompt_id } of rows)
    if (prompt_id !== promptId) await tx.run(setPrompt, { id, promptId });
}

const clearPrompt = prepare<{ promptId: string }, unknown>((db, p) =>
  db.updateTable("worker_events").set({ prompt_id: null }).where("prompt_id", "=", p("promptId")),
);
/** Releases events from a prompt that never started. */
export function unmarkAnnounced(tx: Tx, promptId: string): Promise<number> {
  return tx.run(clearPrompt, { promptId });
}

const setRead = prepare<{ id: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("worker_events")
    .set({ read_at: p("now") })
    .where("id", "=", p("id")),
);
export async function markRead(
  tx: Tx,
  rows: readonly WorkerEventRow[],
  now: number,
): Promise<void> {
  for (const { id } of rows) await tx.run(setRead, { id, now });
}

const dropEvent = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("worker_events").where("id", "=", p("id")),
);
export async function deleteEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const id of ids) await tx.run(dropEvent, { id });
}

const setPayload = prepare<{ id: string; payload: string }, unknown>((db, p) =>
  db
    .updateTable("worker_events")
    .set({ payload: p("payload") })
    .where("id", "=", p("id")),
);
const selectOfChild = prepare<{ parentId: string; childId: string }, WorkerEventRow>((db, p) =>
  db
    .selectFrom("worker_events")
    .selectAll()
    .where("session_id", "=", p("parentId"))
    .where("child_id", "=", p("childId")),
);
export function listOfChild(
  reader: Reader,
  parentId: string,
  childId: string,
): Promise<WorkerEventRow[]> {
  return reader.all(selectOfChild, { parentId, childId });
}

export function savePayload(tx: Tx, id: string, payload: string): Promise<number> {
  return tx.run(setPayload, { id, payload });
}
