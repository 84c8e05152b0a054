/** The SQL by which sessions go for good, with everything that hangs on them. */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, SessionRow } from "../schema.ts";
import { dropBlobs } from "./blob-queries.ts";
import { lockSession } from "./queries.ts";

const prepare = statements<KernelTables>();

const selectPurgeable = prepare<{ before: number; limit: number }, { id: string }>((db, p) =>
  db
    .selectFrom("sessions")
    .select("id")
    .where("archived_at", "is not", null)
    .where("archived_at", "<", p("before"))
    .where("run_state", "is", null)
    // What an orchestrator knows is kept until its person is gone.
    .where("kind", "in", ["task", "review"])
    .limit(p("limit")),
);
export async function listPurgeable(
  reader: Reader,
  before: number,
  limit: number,
): Promise<string[]> {
  return (await reader.all(selectPurgeable, { before, limit })).map((row) => row.id);
}

const orphanChildren = prepare<{ id: string }, unknown>((db, p) =>
  db
    .updateTable("sessions")
    .set((eb) => ({ parent_session_id: null, root_session_id: eb.ref("id"), depth: 0 }))
    .where("parent_session_id", "=", p("id")),
);
const purgeStatements = (
  [
    "events",
    "gates",
    "runs",
    "prompts",
    "threads",
    "session_opens",
    "workspaces",
    "turn_changes",
    "workspace_files",
    "tool_results",
  ] as const
).map((table) =>
  prepare<{ id: string }, unknown>((db, p) =>
    db.deleteFrom(table).where("session_id", "=", p("id")),
  ),
);
const deleteSession = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("sessions").where("id", "=", p("id")),
);

const selectOwned = prepare<{ orgId: string; ownerId: string; limit: number }, SessionRow>(
  (db, p) =>
    db
      .selectFrom("sessions")
      .selectAll()
      .where("org_id", "=", p("orgId"))
      .where("owner_id", "=", p("ownerId"))
      .orderBy("created_at")
      .orderBy("id")
      .limit(p("limit")),
);
/** Some of a person's sessions, whatever state they are in. */
export function listOwnedSessions(
  reader: Reader,
  orgId: string,
  ownerId: string,
  limit: number,
): Promise<SessionRow[]> {
  return reader.all(selectOwned, { orgId, ownerId, limit });
}

const deleteEvents = prepare<{ sessionId: string; through: number }, unknown>((db, p) =>
  db.deleteFrom("events").where("session_id", "=", p("sessionId")).where("seq", "<=", p("through")),
);
/** The beginning of a log that is about to go, so that no one transaction has to take all of it. */
export function dropEvents(tx: Tx, sessionId: string, through: number): Promise<number> {
  return tx.run(deleteEvents, { sessionId, through });
}

/** Children stay, without a parent. False when it has to stay a while. */
export async function purgeSession(
  tx: Tx,
  id: string,
  before: number,
  featureTables: readonly string[],
): Promise<boolean> {
  const row = await lockSession(tx, id);
  if (!row || row.run_state !== null) return false;
  if (row.archived_at === null || row.archived_at >= before) return false;
  await tx.run(orphanChildren, { id });
  for (const statement of purgeStatements) await tx.run(statement, { id });
  await dropBlobs(tx, id);
  for (const name of featureTables) {
    const [table = name, column = "session_id"] = name.split(".");
    const query = builder<Record<string, Record<string, string>>>(tx.dialect).deleteFrom(table);
    await tx.execute(query.where(column, "=", id).compile());
  }
  await tx.run(deleteSession, { id });
  return true;
}
