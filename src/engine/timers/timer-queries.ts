/** The only SQL on timers. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, TimerRow } from "../schema.ts";

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
/** True for exactly one of the servers that try. */
export async function takeTimer(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(deleteById, { id })) > 0;
}

/** Lists only kinds that this program knows: another version's timers are left to it. */
export function listDueTimers(
  reader: Reader,
  kinds: readonly string[],
  now: number,
  limit: number,
): Promise<TimerRow[]> {
  const query = builder<KernelTables>(reader.dialect)
    .selectFrom("timers")
    .selectAll()
    .where("due_at", "<=", now)
    .where("kind", "in", kinds)
    .orderBy("due_at")
    .limit(limit);
  return reader.query<TimerRow>(query.compile());
}
