/** The only SQL on runs. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, RunRow } from "../schema.ts";
import { HELD_STATES, LIVE_STATES } from "../transitions/run-transitions.ts";

const prepare = statements<KernelTables>();

const RUN_COLUMNS = [
  "id",
  "org_id",
  "owner_id",
  "created_by",
  "session_id",
  "thread",
  "prompt_id",
  "type",
  "state",
  "outcome",
  "execution_mode",
  "runtime",
  "agent_name",
  "demands",
  "demand_key",
  "exclusive",
  "pinned_runner_id",
  "runner_id",
  "runner_boot",
  "server_boot",
  "fence",
  "attempts",
  "strikes",
  "blameless",
  "lost_runner_id",
  "progressed",
  "journaled",
  "turn_items",
  "turn_chars",
  "first_seq",
  "lease_until",
  "stop_reason",
  "stop_by",
  "stop_by_prompt",
  "pause",
  "worked_ms",
  "unpriced",
  "model",
  "metered_fence",
  "model_stop",
  "error_code",
  "error_message",
  "result",
  "input_tokens",
  "output_tokens",
  "cost_micros",
  "ready_at",
  "available_at",
  "created_at",
  "claimed_at",
  "started_at",
  "settled_at",
] as const satisfies readonly (keyof RunRow)[];

const insertRunRow = inserter<RunRow>("runs", RUN_COLUMNS);
export function insertRun(tx: Tx, row: RunRow): Promise<number> {
  return tx.execute(insertRunRow(tx.dialect, [row]));
}

type Column = <K extends keyof RunRow & string>(name: K) => RunRow[K];

const changes = (p: Column) => ({
  state: p("state"),
  outcome: p("outcome"),
  runner_id: p("runner_id"),
  runner_boot: p("runner_boot"),
  server_boot: p("server_boot"),
  fence: p("fence"),
  attempts: p("attempts"),
  strikes: p("strikes"),
  blameless: p("blameless"),
  lost_runner_id: p("lost_runner_id"),
  progressed: p("progressed"),
  journaled: p("journaled"),
  turn_items: p("turn_items"),
  turn_chars: p("turn_chars"),
  first_seq: p("first_seq"),
  stop_reason: p("stop_reason"),
  stop_by: p("stop_by"),
  stop_by_prompt: p("stop_by_prompt"),
  pause: p("pause"),
  worked_ms: p("worked_ms"),
  unpriced: p("unpriced"),
  model: p("model"),
  metered_fence: p("metered_fence"),
  model_stop: p("model_stop"),
  pinned_runner_id: p("pinned_runner_id"),
  demand_key: p("demand_key"),
  error_code: p("error_code"),
  error_message: p("error_message"),
  result: p("result"),
  input_tokens: p("input_tokens"),
  output_tokens: p("output_tokens"),
  cost_micros: p("cost_micros"),
  ready_at: p("ready_at"),
  available_at: p("available_at"),
  claimed_at: p("claimed_at"),
  started_at: p("started_at"),
  settled_at: p("settled_at"),
});
const updateRun = prepare<RunRow, unknown>((db, p) =>
  db.updateTable("runs").set(changes(p)).where("id", "=", p("id")),
);
const updateRunAndLease = prepare<RunRow, unknown>((db, p) =>
  db
    .updateTable("runs")
    .set({ ...changes(p), lease_until: p("lease_until") })
    .where("id", "=", p("id")),
);

/**
 * Saves a run without its lease, which is renewed without the session's lock and must not be undone
 * here.
 */
export function saveRun(tx: Tx, row: RunRow): Promise<number> {
  return tx.run(updateRun, row);
}

/** Saves a run whose hold begins or ends: a claim, a loss, a settlement. */
export function saveRunAndLease(tx: Tx, row: RunRow): Promise<number> {
  return tx.run(updateRunAndLease, row);
}

type PausedRun = Pick<RunRow, "id" | "session_id">;
const selectPaused = prepare<
  { orgId: string; start: string; after: string; limit: number },
  PausedRun
>((db, p) =>
  db
    .selectFrom("runs")
    .select(["id", "session_id"])
    .where("state", "=", "pending")
    .where("org_id", "=", p("orgId"))
    .where("pause", "like", p("start"))
    .where("id", ">", p("after"))
    .orderBy("id")
    .limit(p("limit")),
);
/** Pending runs that were paused with this code, by id. */
export function listPausedFor(
  reader: Reader,
  { code, ...page }: { orgId: string; code: string; after: string; limit: number },
): Promise<PausedRun[]> {
  // The code is always written first; an underscore in a pattern matches any character.
  return reader.all(selectPaused, { ...page, start: `{"code":"${code}"%` });
}

const deleteRunRow = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("runs").where("id", "=", p("id")),
);
/** Deletes a run that nobody has claimed: its prompt goes back to the queue. */
export function deleteRun(tx: Tx, id: string): Promise<number> {
  return tx.run(deleteRunRow, { id });
}

const selectRun = prepare<{ id: string }, RunRow>((db, p) =>
  db.selectFrom("runs").selectAll().where("id", "=", p("id")),
);
export function findRun(reader: Reader, id: string): Promise<RunRow | undefined> {
  return reader.first(selectRun, { id });
}

/**
 * Reads the run again once its session is locked: only now is its holder certain. SQLite has one
 * writer, so the earlier read still holds there.
 */
export async function findRunAgain(tx: Tx, run: RunRow): Promise<RunRow | undefined> {
  return tx.dialect === "sqlite" ? run : findRun(tx, run.id);
}

const selectLive = prepare<{ sessionId: string }, RunRow>((db, p) =>
  db
    .selectFrom("runs")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", LIVE_STATES)
    .orderBy("created_at"),
);
export function listLiveRuns(reader: Reader, sessionId: string): Promise<RunRow[]> {
  return reader.all(selectLive, { sessionId });
}

// claiming

export type ReadyRun = Pick<
  RunRow,
  | "id"
  | "session_id"
  | "org_id"
  | "owner_id"
  | "runtime"
  | "demands"
  | "demand_key"
  | "pinned_runner_id"
  | "lost_runner_id"
  | "available_at"
  | "ready_at"
>;
const READY_COLUMNS = [
  "id",
  "session_id",
  "org_id",
  "owner_id",
  "runtime",
  "demands",
  "demand_key",
  "pinned_runner_id",
  "lost_runner_id",
  "available_at",
  "ready_at",
] as const;

const selectReady = prepare<{ now: number; runnerId: string; limit: number }, ReadyRun>((db, p) =>
  db
    .selectFrom("runs")
    .select(READY_COLUMNS)
    .where("state", "=", "pending")
    .where("available_at", "<=", p("now"))
    .where((eb) =>
      eb.or([eb("pinned_runner_id", "is", null), eb("pinned_runner_id", "=", p("runnerId"))]),
    )
    .orderBy("ready_at")
    .orderBy("id")
    .limit(p("limit")),
);

/**
 * Oldest runs that wait for this runner or any, without those that are known not to fit (by
 * requirements key) and those that are left to others for now (by id).
 */
export function listReady(
  reader: Reader,
  { runnerId, now, limit }: { runnerId: string; now: number; limit: number },
  unfit: readonly string[],
  leftToOthers: readonly string[],
): Promise<ReadyRun[]> {
  if (unfit.length === 0 && leftToOthers.length === 0)
    return reader.all(selectReady, { now, runnerId, limit });
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("runs")
    .select(READY_COLUMNS)
    .where("state", "=", "pending")
    .where("available_at", "<=", now)
    .where((eb) =>
      eb.or([eb("pinned_runner_id", "is", null), eb("pinned_runner_id", "=", runnerId)]),
    )
    .orderBy("ready_at")
    .orderBy("id")
    .limit(limit);
  if (unfit.length > 0) query = query.where("demand_key", "not in", unfit);
  if (leftToOthers.length > 0) query = query.where("id", "not in", leftToOthers);
  return reader.query<ReadyRun>(query.compile());
}

/** Locks the sessions that nobody else is working on; the others are left out. */
export async function lockFreeSessions(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (tx.dialect === "sqlite") return new Set(ids);
  const query = builder<KernelTables>(tx.dialect)
    .selectFrom("sessions")
    .select("id")
    .where("id", "in", ids)
    .orderBy("id")
    .forUpdate()
    .skipLocked();
  return new Set((await tx.query<{ id: string }>(query.compile())).map((row) => row.id));
}

const countReady = prepare<{ now: number }, { n: number; oldest: number | null }>((db, p) =>
  db
    .selectFrom("runs")
    .select((eb) => [eb.fn.countAll<number>().as("n"), eb.fn.min("ready_at").as("oldest")])
    .where("state", "=", "pending")
    .where("available_at", "<=", p("now")),
);
export async function readyBacklog(
  reader: Reader,
  now: number,
): Promise<{ n: number; oldest: number | null }> {
  return (await reader.first(countReady, { now })) ?? { n: 0, oldest: null };
}

// leases

const selectHeldBy = prepare<{ runnerId: string }, RunRow>((db, p) =>
  db
    .selectFrom("runs")
    .selectAll()
    .where("runner_id", "=", p("runnerId"))
    .where("state", "in", HELD_STATES),
);
export function listHeldBy(reader: Reader, runnerId: string): Promise<RunRow[]> {
  return reader.all(selectHeldBy, { runnerId });
}

const countHeldRuns = prepare<{ runnerId: string }, { n: number }>((db, p) =>
  db
    .selectFrom("runs")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("runner_id", "=", p("runnerId"))
    .where("state", "in", HELD_STATES),
);
export async function countHeldBy(reader: Reader, runnerId: string): Promise<number> {
  return (await reader.first(countHeldRuns, { runnerId }))?.n ?? 0;
}

const updateLease = prepare<
  { id: string; fence: number; runnerId: string; leaseUntil: number },
  unknown
>((db, p) =>
  db
    .updateTable("runs")
    .set({ lease_until: p("leaseUntil") })
    .where("id", "=", p("id"))
    .where("fence", "=", p("fence"))
    .where("runner_id", "=", p("runnerId"))
    .where("state", "in", HELD_STATES),
);
export async function renewLease(
  tx: Tx,
  lease: { id: string; fence: number; runnerId: string; leaseUntil: number },
): Promise<boolean> {
  return (await tx.run(updateLease, lease)) > 0;
}

const selectExpired = prepare<
  { past: number; future: number; limit: number },
  Pick<RunRow, "id" | "session_id" | "fence">
>((db, p) =>
  db
    .selectFrom("runs")
    .select(["id", "session_id", "fence"])
    .where("state", "in", HELD_STATES)
    .where((eb) => eb.or([eb("lease_until", "<", p("past")), eb("lease_until", ">", p("future"))]))
    .limit(p("limit")),
);
/** Held runs whose lease ends outside of this span. */
export function listExpired(
  reader: Reader,
  span: { past: number; future: number },
  limit: number,
): Promise<Pick<RunRow, "id" | "session_id" | "fence">[]> {
  return reader.all(selectExpired, { ...span, limit });
}
