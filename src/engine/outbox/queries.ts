/** The only SQL on the outbox. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { oldRows } from "../retention/retention-queries.ts";
import type { KernelTables, OutboxRow } from "../schema.ts";

const prepare = statements<KernelTables>();

const insertOnce = prepare<OutboxRow, unknown>((db, p) =>
  db
    .insertInto("outbox")
    .values({
      id: p("id"),
      org_id: p("org_id"),
      kind: p("kind"),
      cause_key: p("cause_key"),
      payload: p("payload"),
      state: p("state"),
      attempts: p("attempts"),
      due_at: p("due_at"),
      last_error: p("last_error"),
      created_at: p("created_at"),
      delivered_at: p("delivered_at"),
    })
    .onConflict((conflict) => conflict.column("cause_key").doNothing()),
);
export function putOutbox(tx: Tx, row: OutboxRow): Promise<number> {
  return tx.run(insertOnce, row);
}

const selectDue = prepare<{ now: number; limit: number }, OutboxRow>((db, p) =>
  db
    .selectFrom("outbox")
    .selectAll()
    .where("state", "=", "pending")
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);
export function listDue(reader: Reader, now: number, limit: number): Promise<OutboxRow[]> {
  return reader.all(selectDue, { now, limit });
}

const claimRow = prepare<{ id: string; dueAt: number; nextDueAt: number }, unknown>((db, p) =>
  db
    .updateTable("outbox")
    .set((eb) => ({ due_at: p("nextDueAt"), attempts: eb("attempts", "+", 1) }))
    .where("id", "=", p("id"))
    .where("state", "=", "pending")
    .where("due_at", "=", p("dueAt")),
);
/** Takes a row for one attempt: no other server tries it before `nextDueAt`. */
export async function takeOutbox(
  tx: Tx,
  id: string,
  dueAt: number,
  nextDueAt: number,
): Promise<boolean> {
  return (await tx.run(claimRow, { id, dueAt, nextDueAt })) > 0;
}

const deliveredRow = prepare<{ id: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("outbox")
    .set({ state: "delivered", last_error: null, due_at: p("now"), delivered_at: p("now") })
    .where("id", "=", p("id"))
    .where("state", "=", "pending"),
);
export function markDelivered(tx: Tx, id: string): Promise<number> {
  return tx.run(deliveredRow, { id, now: tx.now });
}

interface FailedDelivery {
  id: string;
  /** Value set by `takeOutbox`: an attempt that began meanwhile is not disturbed. */
  takenUntil: number;
  state: OutboxRow["state"];
  error: string;
  dueAt: number;
}
const failedRow = prepare<FailedDelivery, unknown>((db, p) =>
  db
    .updateTable("outbox")
    .set({ state: p("state"), last_error: p("error"), due_at: p("dueAt") })
    .where("id", "=", p("id"))
    .where("state", "=", "pending")
    .where("due_at", "=", p("takenUntil")),
);
export function markFailed(tx: Tx, failed: FailedDelivery): Promise<number> {
  return tx.run(failedRow, failed);
}

/** Ended deliveries that were made before an instant. */
export const settledRows = oldRows("outbox", "state in ('delivered', 'dead') and created_at < ?");
