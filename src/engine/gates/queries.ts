/** The only SQL on gates. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import { cleanJson } from "#base/text.ts";
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
  "told_fence",
  "deferred",
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
      told_fence: p("told_fence"),
      expires_at: p("expires_at"),
    })
    .where("id", "=", p("id")),
);
export function saveGate(tx: Tx, row: GateRow): Promise<number> {
  return tx.run(updateGate, row);
}

type RedactedGate = Pick<GateRow, "id" | "shown" | "decision">;
const updateRedactedGate = prepare<RedactedGate, unknown>((db, p) =>
  db
    .updateTable("gates")
    .set({ target: null, shown: p("shown"), decision: p("decision") })
    .where("id", "=", p("id")),
);
/** Takes out what was shown and answered; that it was decided, and how, stays. */
export function redactGate(tx: Tx, row: RedactedGate): Promise<number> {
  return tx.run(updateRedactedGate, row);
}

const selectOfPrompt = prepare<{ promptId: string }, GateRow>((db, p) =>
  db
    .selectFrom("gates")
    .selectAll()
    .where("prompt_id", "=", p("promptId"))
    .orderBy("asked_at")
    .orderBy("id"),
);
export function listGatesOfPrompt(reader: Reader, promptId: string): Promise<GateRow[]> {
  return reader.all(selectOfPrompt, { promptId });
}

/** Whether this very call was asked about before in the same turn, and not allowed. */
export async function findDenial(
  reader: Reader,
  promptId: string,
  tool: string,
  input: unknown,
): Promise<boolean> {
  const asked = cleanJson(input);
  const gates = await listGatesOfPrompt(reader, promptId);
  return gates.some(
    (gate) => gate.tool === tool && isDenial(gate) && cleanJson(inputOf(gate)) === asked,
  );
}

function inputOf({ shown }: GateRow): unknown {
  return (JSON.parse(shown) as { input?: unknown }).input;
}

function isDenial({ state, decision }: GateRow): boolean {
  if (state === "expired") return true;
  return (
    state === "decided" && (JSON.parse(decision ?? "{}") as { allowed?: boolean }).allowed !== true
  );
}

const selectPendingOfPrompt = prepare<{ promptId: string }, { id: string }>((db, p) =>
  db
    .selectFrom("gates")
    .select("id")
    .where("prompt_id", "=", p("promptId"))
    .where("state", "=", "pending")
    .where("deferred", "=", 0),
);
/** Of those that a turn waits for. */
export async function hasPendingGate(reader: Reader, promptId: string): Promise<boolean> {
  return (await reader.first(selectPendingOfPrompt, { promptId })) !== undefined;
}

const selectPendingOf = prepare<{ sessionId: string }, GateRow>((db, p) =>
  db
    .selectFrom("gates")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "=", "pending")
    .orderBy("asked_at")
    .orderBy("id"),
);
/** What a session waits to be answered, oldest first. */
export function listPendingGates(reader: Reader, sessionId: string): Promise<GateRow[]> {
  return reader.all(selectPendingOf, { sessionId });
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
