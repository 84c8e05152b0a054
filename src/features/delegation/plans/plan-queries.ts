/** The only SQL on plans. */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { DelegationTables, PlanRow } from "../schema.ts";

const prepare = statements<DelegationTables>();

const selectPlan = prepare<{ sessionId: string }, PlanRow>((db, p) =>
  db.selectFrom("session_plans").selectAll().where("session_id", "=", p("sessionId")),
);
export function findPlanRow(reader: Reader, sessionId: string): Promise<PlanRow | undefined> {
  return reader.first(selectPlan, { sessionId });
}

export function listPlanRows(reader: Reader, sessionIds: readonly string[]): Promise<PlanRow[]> {
  const query = builder<DelegationTables>(reader.dialect)
    .selectFrom("session_plans")
    .selectAll()
    .where("session_id", "in", sessionIds);
  return reader.query(query.compile());
}

const upsertPlan = prepare<PlanRow, unknown>((db, p) =>
  db
    .insertInto("session_plans")
    .values({
      session_id: p("session_id"),
      org_id: p("org_id"),
      is_required: p("is_required"),
      state: p("state"),
    })
    .onConflict((conflict) =>
      conflict.column("session_id").doUpdateSet((eb) => ({
        is_required: eb.ref("excluded.is_required"),
        state: eb.ref("excluded.state"),
      })),
    ),
);
export function savePlanRow(tx: Tx, row: PlanRow): Promise<number> {
  return tx.run(upsertPlan, row);
}

const deletePlan = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("session_plans").where("session_id", "=", p("sessionId")),
);
export function deletePlanRow(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(deletePlan, { sessionId });
}
