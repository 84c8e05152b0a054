/** Reads the runs of one session, ended ones included. */
import { builder, type Reader, statements } from "#base/store/index.ts";
import type { KernelTables, RunRow } from "../schema.ts";

const prepare = statements<KernelTables>();

const selectStoppedSince = prepare<{ sessionId: string; since: number }, Pick<RunRow, "thread">>(
  (db, p) =>
    db
      .selectFrom("runs")
      .select("thread")
      .where("session_id", "=", p("sessionId"))
      .where("stop_reason", "=", "stop")
      .where("settled_at", ">=", p("since")),
);
/** Turns that were stopped on request and have ended since. */
export function listStoppedSince(
  reader: Reader,
  sessionId: string,
  since: number,
): Promise<Pick<RunRow, "thread">[]> {
  return reader.all(selectStoppedSince, { sessionId, since });
}

export interface RunFilter {
  sessionId: string;
  before?: { at: number; id: string };
  limit: number;
}
/** Runs of a session, newest first. */
export function listRuns(
  reader: Reader,
  { sessionId, before, limit }: RunFilter,
): Promise<RunRow[]> {
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("runs")
    .selectAll()
    .where("session_id", "=", sessionId);
  if (before) {
    query = query.where((eb) =>
      eb.or([
        eb("created_at", "<", before.at),
        eb.and([eb("created_at", "=", before.at), eb("id", "<", before.id)]),
      ]),
    );
  }
  return reader.query<RunRow>(
    query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).compile(),
  );
}
