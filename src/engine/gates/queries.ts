/** The only SQL on gates. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import { cleanJson } from "#base/text/clean-text.ts";
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

const updateShown = prepare<Pick<GateRow, "id" | "shown">, unknown>((db, p) =>
  db
    .updateTable("gates")
    .set({ shown: p("shown") })
    .where("id", "=", p("id")),
);
export function saveShown(tx: Tx, row: Pick<GateRow, "id" | "shown">): Promise<number> {
  return tx.run(updateShown, row);
}

type RedactedGate = Pick<GateRow, "id" | "shown" | "decision">;
const updateRedactedGate = prepare<RedactedGate, unknown>((db, p) =>
  db
    .updateTable("gates")
    .set({ target: null, shown: p("shown"), decision: p("decision") })
    .where("id", "=", p("id")),
);
/** Removes what was shown and answered; the decision itself stays. */
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

/** True if the turn was denied this call before: with the same arguments, or the same target. */
export async function findDenial(
  reader: Reader,
  promptId: string,
  { tool, target, input }: { tool: string; target: string | null; input: unknown },
): Promise<boolean> {
  const asked = cleanJson(input);
  const gates = await listGatesOfPrompt(reader, promptId);
  return gates.some(
    (gate) =>
      gate.tool === tool &&
      isDenial(gate) &&
      ((target !== null && gate.target === target) || cleanJson(inputOf(gate)) === asked),
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
/** True when the turn of this prompt waits for a gate. */
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
/** Gates of a session that wait for an answer, oldest first. */
export function listPendingGates(reader: Reader, sessionId: string): Promise<GateRow[]> {
  return reader.all(selectPendingOf, { sessionId });
}

/** Oldest pending question of a conversation. */
export async function findOpenQuestion(
  reader: Reader,
  { sessionId, thread, now }: { sessionId: string; thread: string; now: number },
): Promise<GateRow | undefined> {
  const pending = await listPendingGates(reader, sessionId);
  return pending.find(
    (gate) => gate.kind === "question" && gate.thread === thread && gate.expires_at > now,
  );
}

interface CallInTree {
  sessionId: string;
  tool: string;
  target: string;
}
const selectPendingInTree = prepare<CallInTree, GateRow>((db, p) =>
  db
    .selectFrom("gates")
    .selectAll()
    .where("session_id", "in", (eb) =>
      eb
        .selectFrom("sessions")
        .select("id")
        .where((or) =>
          or.or([or("id", "=", p("sessionId")), or("parent_session_id", "=", p("sessionId"))]),
        ),
    )
    .where("state", "=", "pending")
    .where("tool", "=", p("tool"))
    .where("target", "=", p("target"))
    .orderBy("session_id")
    .orderBy("id"),
);
/** Pending calls of one tool and target in a session and its children. */
export function listPendingInTree(reader: Reader, call: CallInTree): Promise<GateRow[]> {
  return reader.all(selectPendingInTree, call);
}

interface CallOfOwner {
  orgId: string;
  ownerId: string;
  tool: string;
  target: string;
  limit: number;
}
const selectPendingOfOwner = prepare<CallOfOwner, GateRow>((db, p) =>
  db
    .selectFrom("gates")
    .innerJoin("sessions", "sessions.id", "gates.session_id")
    .selectAll("gates")
    .where("gates.org_id", "=", p("orgId"))
    .where("sessions.owner_id", "=", p("ownerId"))
    .where("gates.state", "=", "pending")
    .where("gates.tool", "=", p("tool"))
    .where("gates.target", "=", p("target"))
    .orderBy("gates.id")
    .limit(p("limit")),
);
/** Pending calls of one tool and target in all sessions of a person. */
export function listPendingOfOwner(reader: Reader, call: CallOfOwner): Promise<GateRow[]> {
  return reader.all(selectPendingOfOwner, call);
}

export interface GateFilter {
  orgId: string;
  ownerId: string;
  state?: GateRow["state"];
  /** Limits the list to this session and its children. */
  sessionId?: string;
  before?: { at: number; id: string };
  limit: number;
}
/** Gates of the sessions that this person owns, newest first. */
export function listGates(reader: Reader, filter: GateFilter): Promise<GateRow[]> {
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("gates")
    .innerJoin("sessions", "sessions.id", "gates.session_id")
    .selectAll("gates")
    .where("gates.org_id", "=", filter.orgId)
    .where("sessions.owner_id", "=", filter.ownerId);
  if (filter.state) query = query.where("gates.state", "=", filter.state);
  const { sessionId } = filter;
  if (sessionId !== undefined)
    query = query.where((eb) =>
      eb.or([eb("sessions.id", "=", sessionId), eb("sessions.parent_session_id", "=", sessionId)]),
    );
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
