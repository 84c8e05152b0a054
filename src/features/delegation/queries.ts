/** The only SQL on links, events for parents, and what they wait for. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, SessionRow } from "#engine/index.ts";
import type {
  CompletionRow,
  DelegationTables,
  LinkRow,
  WaitRow,
  WorkerEventRow,
} from "./schema.ts";

const prepare = statements<DelegationTables & KernelTables>();

const insertLinkRow = inserter<LinkRow>("session_links", [
  "session_id",
  "org_id",
  "parent_session_id",
  "parent_thread",
  "handoff",
  "is_silent",
  "quiet_run",
  "returned_micros",
  "created_at",
]);
export function insertLink(tx: Tx, row: LinkRow): Promise<number> {
  return tx.execute(insertLinkRow(tx.dialect, [row]));
}

const selectLink = prepare<{ childId: string }, LinkRow>((db, p) =>
  db.selectFrom("session_links").selectAll().where("session_id", "=", p("childId")),
);
export function findLink(reader: Reader, childId: string): Promise<LinkRow | undefined> {
  return reader.first(selectLink, { childId });
}

const selectLinksOf = prepare<{ parentId: string }, LinkRow>((db, p) =>
  db
    .selectFrom("session_links")
    .selectAll()
    .where("parent_session_id", "=", p("parentId"))
    .orderBy("created_at")
    .orderBy("session_id"),
);
export function listLinks(reader: Reader, parentId: string): Promise<LinkRow[]> {
  return reader.all(selectLinksOf, { parentId });
}

const updateLink = prepare<Omit<LinkRow, "org_id" | "parent_session_id" | "created_at">, unknown>(
  (db, p) =>
    db
      .updateTable("session_links")
      .set({
        parent_thread: p("parent_thread"),
        handoff: p("handoff"),
        is_silent: p("is_silent"),
        quiet_run: p("quiet_run"),
        returned_micros: p("returned_micros"),
      })
      .where("session_id", "=", p("session_id")),
);
export function saveLink(tx: Tx, link: LinkRow): Promise<number> {
  return tx.run(updateLink, link);
}

const dropLink = prepare<{ childId: string }, unknown>((db, p) =>
  db.deleteFrom("session_links").where("session_id", "=", p("childId")),
);
export function deleteLink(tx: Tx, childId: string): Promise<number> {
  return tx.run(dropLink, { childId });
}

const selectChildren = prepare<{ parentId: string }, SessionRow>((db, p) =>
  db
    .selectFrom("session_links")
    .innerJoin("sessions", "sessions.id", "session_links.session_id")
    .selectAll("sessions")
    .where("session_links.parent_session_id", "=", p("parentId"))
    .orderBy("session_links.created_at")
    .orderBy("session_links.session_id"),
);
/** The sessions themselves, oldest first, whatever became of them. */
export function listChildSessions(reader: Reader, parentId: string): Promise<SessionRow[]> {
  return reader.all(selectChildren, { parentId });
}

const countLiveOf = prepare<{ parentId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("sessions")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("parent_session_id", "=", p("parentId"))
    .where("lifecycle", "=", "active"),
);
/** Those that are active: an idle one counts, one that sleeps does not. */
export async function countLiveChildren(reader: Reader, parentId: string): Promise<number> {
  return Number((await reader.first(countLiveOf, { parentId }))?.count ?? 0);
}

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
const selectLastNumber = prepare<{ parentId: string }, { number: number | null }>((db, p) =>
  db
    .selectFrom("worker_events")
    .select((eb) => eb.fn.max("number").as("number"))
    .where("session_id", "=", p("parentId")),
);
const insertEventRow = inserter<WorkerEventRow>("worker_events", eventColumns);
/** The parent is locked, so no two get one number. */
export async function insertEvent(tx: Tx, row: Omit<WorkerEventRow, "number">): Promise<void> {
  const last = await tx.first(selectLastNumber, { parentId: row.session_id });
  const number = Number(last?.number ?? 0) + 1;
  await tx.execute(insertEventRow(tx.dialect, [{ ...row, number }]));
}

const selectByCause = prepare<{ causeKey: string }, WorkerEventRow>((db, p) =>
  db.selectFrom("worker_events").selectAll().where("cause_key", "=", p("causeKey")),
);
export function findEvent(reader: Reader, causeKey: string): Promise<WorkerEventRow | undefined> {
  return reader.first(selectByCause, { causeKey });
}

/** A row is told once its prompt has begun; until then it can still be told in another way. */
const selectUntold = prepare<{ parentId: string; thread: string }, WorkerEventRow>((db, p) =>
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
export function listUntold(
  reader: Reader,
  parentId: string,
  thread: string,
): Promise<WorkerEventRow[]> {
  return reader.all(selectUntold, { parentId, thread });
}

const countUntoldOf = prepare<{ parentId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("worker_events.session_id", "=", p("parentId"))
    .where("worker_events.read_at", "is", null)
    .where("prompts.started_at", "is", null),
);
/** In all its conversations. */
export async function countUntold(reader: Reader, parentId: string): Promise<number> {
  return Number((await reader.first(countUntoldOf, { parentId }))?.count ?? 0);
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
/** The threads that have something nobody has told yet. */
export async function listUntoldThreads(reader: Reader, parentId: string): Promise<string[]> {
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
/** The threads that something was to be told to without their asking. */
export async function listOpenThreads(reader: Reader, parentId: string): Promise<string[]> {
  return (await reader.all(selectThreads, { parentId })).map(({ thread }) => thread);
}

const dropInbox = prepare<{ parentId: string }, unknown>((db, p) =>
  db.deleteFrom("worker_events").where("session_id", "=", p("parentId")),
);
export function deleteInbox(tx: Tx, parentId: string): Promise<number> {
  return tx.run(dropInbox, { parentId });
}

export interface EventWithFate extends WorkerEventRow {
  started_at: number | null;
}

const selectInbox = prepare<{ parentId: string; limit: number }, EventWithFate>((db, p) =>
  db
    .selectFrom("worker_events")
    .selectAll("worker_events")
    .leftJoin("prompts", "prompts.id", "worker_events.prompt_id")
    .select("prompts.started_at")
    .where("worker_events.session_id", "=", p("parentId"))
    .orderBy("worker_events.number", "desc")
    .limit(p("limit")),
);
/** Newest first. */
export function listInbox(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<EventWithFate[]> {
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
/** The prompt that was to tell them never began. */
export function takeBackAnnounced(tx: Tx, promptId: string): Promise<number> {
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
export function savePayload(tx: Tx, id: string, payload: string): Promise<number> {
  return tx.run(setPayload, { id, payload });
}

const countEvents = prepare<{ parentId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("worker_events")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("session_id", "=", p("parentId")),
);
export async function countInbox(reader: Reader, parentId: string): Promise<number> {
  return Number((await reader.first(countEvents, { parentId }))?.count ?? 0);
}

const selectWait = prepare<{ sessionId: string; thread: string }, WaitRow>((db, p) =>
  db
    .selectFrom("session_waits")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("thread", "=", p("thread")),
);
export function findWait(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<WaitRow | undefined> {
  return reader.first(selectWait, { sessionId, thread });
}

const selectAnyWait = prepare<{ sessionId: string }, { thread: string }>((db, p) =>
  db.selectFrom("session_waits").select("thread").where("session_id", "=", p("sessionId")).limit(1),
);
export async function hasWait(reader: Reader, sessionId: string): Promise<boolean> {
  return (await reader.first(selectAnyWait, { sessionId })) !== undefined;
}

const insertWaitRow = inserter<WaitRow>("session_waits", [
  "session_id",
  "thread",
  "org_id",
  "children",
  "created_at",
]);
export function insertWait(tx: Tx, row: WaitRow): Promise<number> {
  return tx.execute(insertWaitRow(tx.dialect, [row]));
}

const dropWait = prepare<{ sessionId: string; thread: string }, unknown>((db, p) =>
  db
    .deleteFrom("session_waits")
    .where("session_id", "=", p("sessionId"))
    .where("thread", "=", p("thread")),
);
export function deleteWait(tx: Tx, sessionId: string, thread: string): Promise<number> {
  return tx.run(dropWait, { sessionId, thread });
}

const insertCompletionRow = inserter<CompletionRow>("session_completions", [
  "session_id",
  "org_id",
  "run_id",
  "summary",
]);
export function insertCompletion(tx: Tx, row: CompletionRow): Promise<number> {
  return tx.execute(insertCompletionRow(tx.dialect, [row]));
}

const selectCompletion = prepare<{ sessionId: string; runId: string }, CompletionRow>((db, p) =>
  db
    .selectFrom("session_completions")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("run_id", "=", p("runId")),
);
export function findCompletion(
  reader: Reader,
  sessionId: string,
  runId: string,
): Promise<CompletionRow | undefined> {
  return reader.first(selectCompletion, { sessionId, runId });
}

const dropCompletion = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("session_completions").where("session_id", "=", p("sessionId")),
);
export function deleteCompletion(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(dropCompletion, { sessionId });
}
