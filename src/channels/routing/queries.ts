/** SQL on channel bindings. No other file has any. */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { BindingRow, RoutingTables } from "./schema.ts";

const prepare = statements<RoutingTables>();

const upsert = prepare<BindingRow, unknown>((db, p) =>
  db
    .insertInto("channel_bindings")
    .values({
      id: p("id"),
      org_id: p("org_id"),
      session_id: p("session_id"),
      channel_type: p("channel_type"),
      channel_id: p("channel_id"),
      scope_key: p("scope_key"),
      user_id: p("user_id"),
      queue_mode: p("queue_mode"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "scope_key"])
        .doUpdateSet({ session_id: p("session_id"), queue_mode: p("queue_mode") }),
    ),
);
/** Binds a conversation to its newest session, in which it continues. */
export function saveBinding(tx: Tx, row: BindingRow): Promise<number> {
  return tx.run(upsert, row);
}

type SessionBinding = Pick<BindingRow, "session_id" | "channel_type" | "channel_id">;
/** Conversations that are bound to these sessions, the oldest of each first. */
export function listBindings(
  reader: Reader,
  sessionIds: readonly string[],
): Promise<SessionBinding[]> {
  if (sessionIds.length === 0) return Promise.resolve([]);
  return reader.query<SessionBinding>(
    builder<RoutingTables>(reader.dialect)
      .selectFrom("channel_bindings")
      .select(["session_id", "channel_type", "channel_id"])
      .where("session_id", "in", sessionIds)
      .orderBy("created_at")
      .orderBy("id")
      .compile(),
  );
}

const selectByScope = prepare<{ orgId: string; scopeKey: string }, BindingRow>((db, p) =>
  db
    .selectFrom("channel_bindings")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("scope_key", "=", p("scopeKey")),
);
export function findBinding(
  reader: Reader,
  orgId: string,
  scopeKey: string,
): Promise<BindingRow | undefined> {
  return reader.first(selectByScope, { orgId, scopeKey });
}
