/** SQL on runs that wait, are live or are overdue, read for many sessions at once. */
import { builder, type Reader, statements } from "#base/store/index.ts";
import type { KernelTables, RunRow } from "#engine/schema.ts";
import { LIVE_STATES } from "#engine/transitions/run-transitions.ts";

const prepare = statements<KernelTables>();

/** Live runs of several sessions, by session and age. */
export async function listLiveRunsOf(
  reader: Reader,
  sessionIds: readonly string[],
): Promise<RunRow[]> {
  if (sessionIds.length === 0) return [];
  const query = builder<KernelTables>(reader.dialect)
    .selectFrom("runs")
    .selectAll()
    .where("session_id", "in", sessionIds)
    .where("state", "in", LIVE_STATES)
    .orderBy("created_at");
  return reader.query<RunRow>(query.compile());
}

/** Requirements of runs for a runner; runs with the same key have the same. */
export type WaitingRequirements = Pick<
  RunRow,
  "org_id" | "owner_id" | "runtime" | "demands" | "demand_key" | "pinned_runner_id"
>;
const REQUIREMENT_COLUMNS = [
  "org_id",
  "owner_id",
  "runtime",
  "demands",
  "demand_key",
  "pinned_runner_id",
] as const;

const selectWaitingRequirements = prepare<{ before: number }, WaitingRequirements>((db, p) =>
  db
    .selectFrom("runs")
    .select(REQUIREMENT_COLUMNS)
    .distinct()
    .where("state", "=", "pending")
    .where("ready_at", "<=", p("before"))
    .where("available_at", "<=", p("before")),
);
/** Requirements of runs that have waited since before this instant. */
export function listWaitingRequirements(
  reader: Reader,
  before: number,
): Promise<WaitingRequirements[]> {
  return reader.all(selectWaitingRequirements, { before });
}

const selectWaitingWith = prepare<
  { requirementsKey: string; before: number; limit: number },
  Pick<RunRow, "id" | "session_id">
>((db, p) =>
  db
    .selectFrom("runs")
    .select(["id", "session_id"])
    .where("state", "=", "pending")
    .where("demand_key", "=", p("requirementsKey"))
    .where("ready_at", "<=", p("before"))
    .where("available_at", "<=", p("before"))
    .orderBy("ready_at")
    .limit(p("limit")),
);
export function listWaitingWith(
  reader: Reader,
  wanted: { requirementsKey: string; before: number; limit: number },
): Promise<Pick<RunRow, "id" | "session_id">[]> {
  return reader.all(selectWaitingWith, wanted);
}

const selectOverdueStops = prepare<
  { before: number; limit: number },
  Pick<RunRow, "id" | "session_id" | "fence">
>((db, p) =>
  db
    .selectFrom("runs")
    .select(["id", "session_id", "fence"])
    .where("state", "=", "stopping")
    .where("stop_by", "<", p("before"))
    .orderBy("stop_by")
    .limit(p("limit")),
);
/** Runs that should have ended before this instant, by their own grace time. */
export function listOverdueStops(
  reader: Reader,
  before: number,
  limit: number,
): Promise<Pick<RunRow, "id" | "session_id" | "fence">[]> {
  return reader.all(selectOverdueStops, { before, limit });
}
