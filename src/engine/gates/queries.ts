/** The only SQL on gates. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { GateRow, KernelTables } from "../schema.ts";

const prepare = statements<KernelTables>();

const insertGateRow = inserter<GateRow>("gates", [
  "id",
  "org_id",
  "session_id",
  "thread",
  "prompt_id",
  "run_id",
  "call_id",
  "kind",
  "tool",
  "target",
  "shown",
  "state",
  "decision",
  "decided_by",
  "asked_at",
  "expires_at",
  "decided_at",
]);
export function insertGate(tx: Tx, row: GateRow): Promise<number> {
  return tx.execute(insertGateRow(tx.dialect, [row]));
}

const selectGate = prepare<{ id: string }, GateRow>((db, p) =>
  db.selectFrom("gates").selectAll().where("id", "=", p("id")),
);
export function findGate(reader: Reader, id: string): Promise<GateRow | undefined> {
  return reader.first(selectGate, { id });
}

const selectByCall = prepare<{ promptId: string; callId: string }, GateRow>((db, p) =>
  db
    .selectFrom("gates")
    .selectAll()
    .where("prompt_id", "=", p("promptId"))
    .where("call_id", "=", p("callId")),
);
export function findGateByCall(
  reader: Reader,
  promptId: string,
  callId: string,
): Promise<GateRow | undefined> {
  return reader.first(selectByCall, { promptId, callId });
}

const updateGate = prepare<GateRow, unknown>((db, p) =>
  db
    .updateTable("gates")
    .set({
      state: p("state"),
      decision: p("decision"),
      decided_by: p("decided_by"),
      decided_at: p("decided_at"),
    })
    .where("id", "=", p("id")),
);
export function saveGate(tx: Tx, row: GateRow): Promise<number> {
  return tx.run(updateGate, row);
}

const cancelOfPrompt = prepare<{ promptId: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("gates")
    .set({ state: "cancelled", decided_at: p("now") })
    .where("prompt_id", "=", p("promptId"))
    .where("state", "=", "pending"),
);
export function cancelGates(tx: Tx, promptId: string, now: number): Promise<number> {
  return tx.run(cancelOfPrompt, { promptId, now });
}

const selectPendingOfPrompt = prepare<{ promptId: string }, { id: string }>((db, p) =>
  db
    .selectFrom("gates")
    .select("id")
    .where("prompt_id", "=", p("promptId"))
    .where("state", "=", "pending"),
);
export async function hasPendingGate(reader: Reader, promptId: string): Promise<boolean> {
  return (await reader.first(selectPendingOfPrompt, { promptId })) !== undefined;
}

export interface GateFilter {
  orgId: string;
  ownerId: string;
  state?: GateRow["state"];
  sessionId?: string;
  before?: { at: number; id: string };
  limit: number;
}
/** Newest first; of sessions this person owns. */
export function listGates(reader: Reader, filter: GateFilter): Promise<GateRow[]> {
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("gates")
    .innerJoin("sessions", "sessions.id", "gates.session_id")
    .selectAll("gates")
    .where("gates.org_id", "=", filter.orgId)
    .where("sessions.owner_id", "=", filter.ownerId);
  if (filter.state) query = query.where("gates.state", "=", filter.state);
  if (filter.sessionId !== undefined)
    query = query.where("gates.session_id", "=", filter.sessionId);
  const { before } = filter;
  if (before) {
    query = query.where((eb) =>
      eb.or([
        eb("asked_at", "<", before.at),
        eb.and([eb("asked_at", "=", before.at), eb("gates.id", "<", before.id)]),
      ]),
    );
  }
  return reader.query<GateRow>(
    query.orderBy("asked_at", "desc").orderBy("gates.id", "desc").limit(filter.limit).compile(),
  );
}
