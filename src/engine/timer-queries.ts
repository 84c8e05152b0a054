/** The only SQL on timers. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, TimerRow } from "./schema.ts";

const prepare = statements<KernelTables>();

const insertTimerRow = inserter<TimerRow>("timers", ["id", "org_id", "kind", "subject", "due_at"]);
export function insertTimer(tx: Tx, row: TimerRow): Promise<number> {
  return tx.execute(insertTimerRow(tx.dialect, [row]));
}

const deleteBySubject = prepare<{ kind: string; subject: string }, unknown>((db, p) =>
  db.deleteFrom("timers").where("kind", "=", p("kind")).where("subject", "=", p("subject")),
);
export function deleteTimer(tx: Tx, kind: string, subject: string): Promise<number> {
  return tx.run(deleteBySubject, { kind, subject });
}

const deleteById = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("timers").where("id", "=", p("id")),
);
/** True for exactly one of those who try. */
export async function takeTimer(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(deleteById, { id })) > 0;
}

const selectDue = prepare<{ now: number; limit: number }, TimerRow>((db, p) =>
  db
    .selectFrom("timers")
    .selectAll()
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);
export function listDueTimers(reader: Reader, now: number, limit: number): Promise<TimerRow[]> {
  return reader.all(selectDue, { now, limit });
}
