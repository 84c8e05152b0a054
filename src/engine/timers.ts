/** Timers are rows with a due time, so a restart loses none. One timer for each kind and subject. */
import { inserter, statements, type Tx } from "#base/store/index.ts";
import type { TimerHandler } from "./feature.ts";
import type { KernelTables, TimerRow } from "./schema.ts";
import { command, type Engine, type Work } from "./work.ts";

const prepare = statements<KernelTables>();
const insertTimer = inserter<TimerRow>("timers", ["id", "org_id", "kind", "subject", "due_at"]);
const deleteBySubject = prepare<{ kind: string; subject: string }, unknown>((db, p) =>
  db.deleteFrom("timers").where("kind", "=", p("kind")).where("subject", "=", p("subject")),
);
const deleteById = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("timers").where("id", "=", p("id")),
);
const selectDue = prepare<{ now: number; limit: number }, TimerRow>((db, p) =>
  db
    .selectFrom("timers")
    .selectAll()
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);
/** Sets the timer, or moves it when it is set already. */
export async function setTimer(
  work: Work,
  kind: string,
  subject: string,
  orgId: string,
  dueAt: number,
): Promise<void> {
  await clearTimer(work.tx, kind, subject);
  await work.tx.execute(
    insertTimer(work.tx.dialect, [
      { id: work.ids.mint("tmr"), org_id: orgId, kind, subject, due_at: dueAt },
    ]),
  );
}

export function clearTimer(tx: Tx, kind: string, subject: string): Promise<number> {
  return tx.run(deleteBySubject, { kind, subject });
}

const BATCH = 50;

/** Runs what is due, each in its own transaction. Safe on several servers at once: the row decides. */
export async function runDueTimers(
  engine: Engine,
  handlers: Readonly<Record<string, TimerHandler>>,
  now: number,
): Promise<number> {
  const due = await engine.store.read((reader) => reader.all(selectDue, { now, limit: BATCH }));
  for (const timer of due) {
    await command(engine, async (work) => {
      if ((await work.tx.run(deleteById, { id: timer.id })) === 0) return;
      await handlers[timer.kind]?.(work, timer);
    });
  }
  return due.length;
}
