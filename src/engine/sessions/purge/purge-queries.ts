/**
 * SQL that removes sessions for good. A session's own row goes at once, together with its rows in
 * lists; its bulk (log, turns, files) goes a bounded number of rows at a time and is remembered in
 * `session_remains` until the last row is gone.
 */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { oldRows } from "#engine/retention/retention-queries.ts";
import type { KernelTables, SessionRemainsRow, SessionRow } from "#engine/schema.ts";
import { dropSomeBlobs } from "../log/blob-queries.ts";
import { lockSession } from "../queries.ts";

const prepare = statements<KernelTables>();

/** Sort key of a session in the order of purging. */
export interface PurgePosition {
  /** Time when the session was archived, or when its own row was removed. */
  at: number;
  id: string;
}

const selectPurgeable = prepare<
  { before: number; at: number; id: string; limit: number },
  PurgePosition
>((db, p) =>
  db
    .selectFrom("sessions")
    .select(["id", "archived_at as at"])
    .where("archived_at", "is not", null)
    .where("archived_at", "<", p("before"))
    .where("archived_at", ">=", p("at"))
    .where((eb) =>
      eb.or([
        eb("archived_at", ">", p("at")),
        eb.and([eb("archived_at", "=", p("at")), eb("id", ">", p("id"))]),
      ]),
    )
    .where("run_state", "is", null)
    // The knowledge of an orchestrator is kept until its person is gone.
    .where("kind", "in", ["task", "review"])
    .orderBy("archived_at")
    .orderBy("id")
    .limit(p("limit"))
    .$castTo<PurgePosition>(),
);
/** Archived sessions that are due, longest archived first, after this place. */
export function listPurgeable(
  reader: Reader,
  before: number,
  { at, id }: PurgePosition,
  limit: number,
): Promise<PurgePosition[]> {
  return reader.all(selectPurgeable, { before, at, id, limit });
}

/** Counts archived sessions that are due, up to a limit. */
export const countPurgeable = oldRows(
  "sessions",
  "archived_at is not null and archived_at < ? and run_state is null and kind in ('task', 'review')",
).countDue;

const orphanChildren = prepare<{ id: string }, unknown>((db, p) =>
  db
    .updateTable("sessions")
    .set((eb) => ({ parent_session_id: null, root_session_id: eb.ref("id"), depth: 0 }))
    .where("parent_session_id", "=", p("id")),
);
const deleteSession = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("sessions").where("id", "=", p("id")),
);

/**
 * Kernel tables whose rows are listed on their own, and few: they are removed with the session's
 * row.
 */
const LISTED_TABLES = ["gates", "session_opens", "workspaces", "threads"] as const;
/** Tables that are only read through their session. The log goes last: it is the largest. */
const BULK_TABLES = [
  "workspace_files",
  "turn_changes",
  "tool_results",
  "runs",
  "prompts",
  "events",
] as const satisfies readonly (keyof KernelTables)[];
/** Rows of one listed table that are removed in the transaction of the session's row. */
const LISTED_AT_ONCE = 200;
const BLOBS_AT_ONCE = 2;

const deletions = new Map<string, string>();
/**
 * Deletes at most `limit` rows of a session from `table`, or from `table.column`; with
 * `table.column=null` they stay and forget the session.
 */
function deleteSome(tx: Tx, name: string, id: string, limit: number): Promise<number> {
  const key = `${tx.dialect} ${name}`;
  let sql = deletions.get(key);
  if (sql === undefined) {
    const [place = name, forgets] = name.split("=");
    const [table = place, column = "session_id"] = place.split(".");
    const act =
      forgets === undefined ? `delete from "${table}"` : `update "${table}" set "${column}" = null`;
    sql =
      tx.dialect === "sqlite"
        ? `${act} where rowid in (select rowid from "${table}" where "${column}" = ? limit ?)`
        : `${act} where ctid = any(array(select ctid from "${table}" where "${column}" = $1 limit $2))`;
    deletions.set(key, sql);
  }
  return tx.execute({ sql, parameters: [id, limit] });
}

/**
 * Removes a session that was archived before this instant: from here on nobody finds it. At most
 * `rows` rows of its bulk go in the same transaction; children stay, without a parent. False when
 * the session is gone already, is at work, or was archived later.
 */
export async function purgeSession(
  tx: Tx,
  id: string,
  before: number,
  { featureTables, rows }: { featureTables: readonly string[]; rows: number },
): Promise<boolean> {
  const row = await lockSession(tx, id);
  if (!row || row.run_state !== null) return false;
  if (row.archived_at === null || row.archived_at >= before) return false;
  await tx.run(orphanChildren, { id });
  let isEmpty = true;
  for (const name of [...featureTables, ...LISTED_TABLES])
    if ((await deleteSome(tx, name, id, LISTED_AT_ONCE)) === LISTED_AT_ONCE) isEmpty = false;
  await tx.run(deleteSession, { id });
  if (isEmpty && (await purgeBulk(tx, id, [], rows))) return true;
  const remains = { session_id: id, org_id: row.org_id, owner_id: row.owner_id };
  await tx.run(insertRemains, { ...remains, created_at: tx.now });
  return true;
}

/**
 * Deletes at most `rows` rows (and two blobs) of a session whose own row is gone. True when nothing
 * is left.
 */
export async function purgeBulk(
  tx: Tx,
  id: string,
  featureTables: readonly string[],
  rows: number,
): Promise<boolean> {
  let left = rows;
  for (const name of [...featureTables, ...LISTED_TABLES, ...BULK_TABLES]) {
    left -= await deleteSome(tx, name, id, left);
    if (left <= 0) return false;
  }
  return (await dropSomeBlobs(tx, id, BLOBS_AT_ONCE)) < BLOBS_AT_ONCE;
}

const insertRemains = prepare<SessionRemainsRow, unknown>((db, p) =>
  db
    .insertInto("session_remains")
    .values({
      session_id: p("session_id"),
      org_id: p("org_id"),
      owner_id: p("owner_id"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) => conflict.column("session_id").doNothing()),
);
const selectRemains = prepare<PurgePosition & { limit: number }, PurgePosition>((db, p) =>
  db
    .selectFrom("session_remains")
    .select(["session_id as id", "created_at as at"])
    .where("created_at", ">=", p("at"))
    .where((eb) =>
      eb.or([
        eb("created_at", ">", p("at")),
        eb.and([eb("created_at", "=", p("at")), eb("session_id", ">", p("id"))]),
      ]),
    )
    .orderBy("created_at")
    .orderBy("session_id")
    .limit(p("limit")),
);
/** Sessions whose own row is gone but whose bulk is left, oldest first, after this place. */
export function listRemains(
  reader: Reader,
  { at, id }: PurgePosition,
  limit: number,
): Promise<PurgePosition[]> {
  return reader.all(selectRemains, { at, id, limit });
}
const selectRemainsOf = prepare<
  { orgId: string; ownerId: string; limit: number },
  SessionRemainsRow
>((db, p) =>
  db
    .selectFrom("session_remains")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("owner_id", "=", p("ownerId"))
    .limit(p("limit")),
);
export function listRemainsOf(
  reader: Reader,
  orgId: string,
  ownerId: string,
  limit: number,
): Promise<SessionRemainsRow[]> {
  return reader.all(selectRemainsOf, { orgId, ownerId, limit });
}
const lockRemainsRow = (waits: boolean) =>
  prepare<{ id: string }, SessionRemainsRow>((db, p, dialect) => {
    const query = db.selectFrom("session_remains").selectAll().where("session_id", "=", p("id"));
    if (dialect === "sqlite") return query;
    return waits ? query.forUpdate() : query.forUpdate().skipLocked();
  });
const lockFreeRemains = lockRemainsRow(false);
const awaitRemains = lockRemainsRow(true);
/**
 * Locks the remains of a session. False when they are gone, or another server works on them, unless
 * `waits` says to wait for it.
 */
export async function lockRemains(tx: Tx, id: string, { waits = false } = {}): Promise<boolean> {
  return (await tx.first(waits ? awaitRemains : lockFreeRemains, { id })) !== undefined;
}
const deleteRemains = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("session_remains").where("session_id", "=", p("id")),
);
export function dropRemains(tx: Tx, id: string): Promise<number> {
  return tx.run(deleteRemains, { id });
}

const selectOwned = prepare<{ orgId: string; ownerId: string; limit: number }, SessionRow>(
  (db, p) =>
    db
      .selectFrom("sessions")
      .selectAll()
      .where("org_id", "=", p("orgId"))
      .where("owner_id", "=", p("ownerId"))
      .orderBy("created_at")
      .orderBy("id")
      .limit(p("limit")),
);
/** Some of a person's sessions, in any state. */
export function listOwnedSessions(
  reader: Reader,
  orgId: string,
  ownerId: string,
  limit: number,
): Promise<SessionRow[]> {
  return reader.all(selectOwned, { orgId, ownerId, limit });
}
