/** Timers are rows with a due time, so a restart loses none. One timer for each kind and subject. */
import type { Tx } from "#base/store/index.ts";
import type { TimerHandler } from "../feature.ts";
import { forEachIndependently } from "../for-each-independently.ts";
import { command, type Engine, type Work } from "../work.ts";
import { deleteTimer, insertTimer, listDueTimers, takeTimer } from "./timer-queries.ts";

const BATCH = 50;

/** Sets the timer, or moves it when it is set already. */
export async function setTimer(
  work: Work,
  kind: string,
  subject: string,
  orgId: string,
  dueAt: number,
): Promise<void> {
  await clearTimer(work.tx, kind, subject);
  const id = work.ids.mint("tmr");
  await insertTimer(work.tx, { id, org_id: orgId, kind, subject, due_at: dueAt });
}

export function clearTimer(tx: Tx, kind: string, subject: string): Promise<number> {
  return deleteTimer(tx, kind, subject);
}

/** Runs due timers, each in its own transaction. Safe on several servers at once: the row decides. */
export async function runDueTimers(
  engine: Engine,
  handlers: Readonly<Record<string, TimerHandler>>,
  now: number,
): Promise<number> {
  const due = await engine.store.read((reader) =>
    listDueTimers(reader, Object.keys(handlers), now, BATCH),
  );
  await forEachIndependently(due, (timer) =>
    command(engine, async (work) => {
      if (await takeTimer(work.tx, timer.id)) await handlers[timer.kind]?.(work, timer);
    }),
  );
  return due.length;
}
