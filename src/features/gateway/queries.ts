/** SQL on the model gateway's settings and on requests under way. No other file has any. */
import { sql } from "kysely";
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { GatewayCallRow, GatewaySettingsRow, GatewayTables } from "./schema.ts";

const prepare = statements<GatewayTables>();

const selectSettings = prepare<{ orgId: string }, GatewaySettingsRow>((db, p) =>
  db.selectFrom("gateway_settings").selectAll().where("org_id", "=", p("orgId")),
);
export function findSettings(
  reader: Reader,
  orgId: string,
): Promise<GatewaySettingsRow | undefined> {
  return reader.first(selectSettings, { orgId });
}

const upsertSettings = prepare<GatewaySettingsRow, unknown>((db, p) =>
  db
    .insertInto("gateway_settings")
    .values({
      org_id: p("org_id"),
      personal_runners: p("personal_runners"),
      environment_keys: p("environment_keys"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.column("org_id").doUpdateSet((eb) => ({
        personal_runners: eb.ref("excluded.personal_runners"),
        environment_keys: eb.ref("excluded.environment_keys"),
        updated_at: eb.ref("excluded.updated_at"),
      })),
    ),
);
export function saveSettings(tx: Tx, row: GatewaySettingsRow): Promise<number> {
  return tx.run(upsertSettings, row);
}

const insertCallRow = prepare<GatewayCallRow, unknown>((db, p) =>
  db.insertInto("gateway_calls").values({
    id: p("id"),
    org_id: p("org_id"),
    session_id: p("session_id"),
    run_id: p("run_id"),
    server_id: p("server_id"),
    model: p("model"),
    request_bytes: p("request_bytes"),
    reserved_micros: p("reserved_micros"),
    started_at: p("started_at"),
  }),
);
export function insertCall(tx: Tx, row: GatewayCallRow): Promise<number> {
  return tx.run(insertCallRow, row);
}

const deleteCallRow = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("gateway_calls").where("id", "=", p("id")),
);
/** Returns false when somebody else removed the row: whoever removes it counts it. */
export async function removeCall(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(deleteCallRow, { id })) > 0;
}

const sumReserved = prepare<{ sessionId: string }, { micros: number }>((db, p) =>
  db
    .selectFrom("gateway_calls")
    .select(sql<number>`cast(coalesce(sum(reserved_micros), 0) as bigint)`.as("micros"))
    .where("session_id", "=", p("sessionId")),
);
export async function reservedOf(reader: Reader, sessionId: string): Promise<number> {
  return (await reader.first(sumReserved, { sessionId }))?.micros ?? 0;
}

export interface AbandonedFilter {
  /** This process, whose own requests may still be under way. */
  serverId: string;
  /** Latest start of other servers' requests to include. */
  othersBefore: number;
  /** Latest start of any server's requests to include: no request lives so long. */
  anyBefore: number;
  limit: number;
}

const selectAbandoned = prepare<AbandonedFilter, GatewayCallRow>((db, p) =>
  db
    .selectFrom("gateway_calls")
    .selectAll()
    .where((eb) =>
      eb.or([
        eb("started_at", "<", p("anyBefore")),
        eb.and([eb("started_at", "<", p("othersBefore")), eb("server_id", "!=", p("serverId"))]),
      ]),
    )
    .orderBy("started_at")
    .limit(p("limit")),
);
export function listAbandoned(reader: Reader, filter: AbandonedFilter): Promise<GatewayCallRow[]> {
  return reader.all(selectAbandoned, filter);
}
