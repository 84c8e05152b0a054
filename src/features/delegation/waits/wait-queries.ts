/** SQL on waits, completions and unattended turns. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { CompletionRow, DelegationTables, UnattendedRow, WaitRow } from "../schema.ts";

const prepare = statements<DelegationTables>();

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

const selectNamedWaits = prepare<{ sessionId: string }, WaitRow & { children: string }>((db, p) =>
  db
    .selectFrom("session_waits")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("children", "is not", null)
    .$narrowType<{ children: string }>(),
);
/** Lists the waits for particular children, in all threads. */
export function listNamedWaits(
  reader: Reader,
  sessionId: string,
): Promise<(WaitRow & { children: string })[]> {
  return reader.all(selectNamedWaits, { sessionId });
}

const selectWaits = prepare<{ sessionId: string }, Pick<WaitRow, "kind" | "until">>((db, p) =>
  db.selectFrom("session_waits").select(["kind", "until"]).where("session_id", "=", p("sessionId")),
);
/** Lists the open waits of all threads. */
export function listWaits(
  reader: Reader,
  sessionId: string,
): Promise<Pick<WaitRow, "kind" | "until">[]> {
  return reader.all(selectWaits, { sessionId });
}

const insertWaitRow = inserter<WaitRow>("session_waits", [
  "session_id",
  "thread",
  "org_id",
  "children",
  "kind",
  "until",
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

const selectCompletionOf = prepare<{ sessionId: string }, CompletionRow>((db, p) =>
  db.selectFrom("session_completions").selectAll().where("session_id", "=", p("sessionId")),
);
/** Finds the completion of a session, which exists until the session is archived. */
export function findCompletionOf(
  reader: Reader,
  sessionId: string,
): Promise<CompletionRow | undefined> {
  return reader.first(selectCompletionOf, { sessionId });
}

const dropCompletion = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("session_completions").where("session_id", "=", p("sessionId")),
);
export function deleteCompletion(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(dropCompletion, { sessionId });
}

const selectUnattended = prepare<{ rootId: string }, UnattendedRow>((db, p) =>
  db.selectFrom("session_unattended").selectAll().where("session_id", "=", p("rootId")),
);
export function findUnattended(reader: Reader, rootId: string): Promise<UnattendedRow | undefined> {
  return reader.first(selectUnattended, { rootId });
}

const insertUnattendedRow = inserter<UnattendedRow>("session_unattended", [
  "session_id",
  "org_id",
  "turns",
  "is_held",
  "is_said",
]);
export function insertUnattended(tx: Tx, row: UnattendedRow): Promise<number> {
  return tx.execute(insertUnattendedRow(tx.dialect, [row]));
}

const updateUnattended = prepare<Omit<UnattendedRow, "org_id">, unknown>((db, p) =>
  db
    .updateTable("session_unattended")
    .set({ turns: p("turns"), is_held: p("is_held"), is_said: p("is_said") })
    .where("session_id", "=", p("session_id")),
);
export function saveUnattended(tx: Tx, row: UnattendedRow): Promise<number> {
  return tx.run(updateUnattended, row);
}
