/** The only SQL on workspaces, their changes by turn, and files that can be shown. */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, WorkspaceRow } from "../schema.ts";
import type { TurnChangesRow, WorkspaceFileRow } from "../workspace-schema.ts";

const prepare = statements<KernelTables>();

const selectWorkspace = prepare<{ sessionId: string }, WorkspaceRow>((db, p) =>
  db.selectFrom("workspaces").selectAll().where("session_id", "=", p("sessionId")),
);
export function findWorkspace(
  reader: Reader,
  sessionId: string,
): Promise<WorkspaceRow | undefined> {
  return reader.first(selectWorkspace, { sessionId });
}

const upsertWorkspaceRow = prepare<WorkspaceRow, unknown>((db, p) =>
  db
    .insertInto("workspaces")
    .values({
      id: p("id"),
      org_id: p("org_id"),
      session_id: p("session_id"),
      runner_id: p("runner_id"),
      bytes: p("bytes"),
      changes: p("changes"),
      offline_at: p("offline_at"),
      left_at: p("left_at"),
      updated_at: p("updated_at"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) =>
      conflict.column("session_id").doUpdateSet({
        id: p("id"),
        runner_id: p("runner_id"),
        bytes: p("bytes"),
        changes: p("changes"),
        offline_at: p("offline_at"),
        left_at: p("left_at"),
        updated_at: p("updated_at"),
      }),
    ),
);
export function upsertWorkspace(tx: Tx, row: WorkspaceRow): Promise<number> {
  return tx.run(upsertWorkspaceRow, row);
}

const selectHeldBy = prepare<{ runnerId: string; limit: number }, Pick<WorkspaceRow, "session_id">>(
  (db, p) =>
    db
      .selectFrom("workspaces")
      .select("session_id")
      .where("runner_id", "=", p("runnerId"))
      .where("left_at", "is", null)
      .limit(p("limit")),
);
export function listHeldWorkspaces(
  reader: Reader,
  runnerId: string,
  limit: number,
): Promise<Pick<WorkspaceRow, "session_id">[]> {
  return reader.all(selectHeldBy, { runnerId, limit });
}

export interface WaitingForMachine {
  session_id: string;
  run_id: string;
}
const selectLongOffline = prepare<{ before: number; limit: number }, WaitingForMachine>((db, p) =>
  db
    .selectFrom("runs")
    .innerJoin("workspaces", "workspaces.session_id", "runs.session_id")
    .innerJoin("runners", "runners.id", "workspaces.runner_id")
    .select(["runs.session_id", "runs.id as run_id"])
    .where("runs.state", "=", "pending")
    .whereRef("runs.pinned_runner_id", "=", "workspaces.runner_id")
    .where("workspaces.offline_at", "is", null)
    .where("workspaces.left_at", "is", null)
    .where("runners.state", "=", "offline")
    .where("runners.last_seen_at", "<=", p("before"))
    .limit(p("limit")),
);
/** Turns that wait for a machine last seen before this instant, and have no notice of it yet. */
export function listLongOffline(
  reader: Reader,
  before: number,
  limit: number,
): Promise<WaitingForMachine[]> {
  return reader.all(selectLongOffline, { before, limit });
}

const updateMachineBack = prepare<{ runnerId: string }, unknown>((db, p) =>
  db
    .updateTable("workspaces")
    .set({ offline_at: null })
    .where("runner_id", "=", p("runnerId"))
    .where("offline_at", "is not", null),
);
/** Notes that the machine is back, so that its next absence is reported again. */
export function noteMachineBack(tx: Tx, runnerId: string): Promise<number> {
  return tx.run(updateMachineBack, { runnerId });
}

const deleteWorkspaceRow = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("workspaces").where("session_id", "=", p("sessionId")),
);
export function deleteWorkspace(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(deleteWorkspaceRow, { sessionId });
}

const upsertTurnChanges = prepare<TurnChangesRow, unknown>((db, p) =>
  db
    .insertInto("turn_changes")
    .values({
      session_id: p("session_id"),
      prompt_id: p("prompt_id"),
      org_id: p("org_id"),
      changes: p("changes"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["session_id", "prompt_id"])
        .doUpdateSet({ changes: p("changes"), created_at: p("created_at") }),
    ),
);
export function saveTurnChanges(tx: Tx, row: TurnChangesRow): Promise<number> {
  return tx.run(upsertTurnChanges, row);
}

const selectTurnChanges = prepare<{ sessionId: string; promptId: string }, TurnChangesRow>(
  (db, p) =>
    db
      .selectFrom("turn_changes")
      .selectAll()
      .where("session_id", "=", p("sessionId"))
      .where("prompt_id", "=", p("promptId")),
);
export function findTurnChanges(
  reader: Reader,
  sessionId: string,
  promptId: string,
): Promise<TurnChangesRow | undefined> {
  return reader.first(selectTurnChanges, { sessionId, promptId });
}

const selectTurns = prepare<
  { sessionId: string },
  Pick<TurnChangesRow, "prompt_id" | "created_at">
>((db, p) =>
  db
    .selectFrom("turn_changes")
    .select(["prompt_id", "created_at"])
    .where("session_id", "=", p("sessionId"))
    .orderBy("created_at"),
);
export function listChangedTurns(
  reader: Reader,
  sessionId: string,
): Promise<Pick<TurnChangesRow, "prompt_id" | "created_at">[]> {
  return reader.all(selectTurns, { sessionId });
}

const upsertFileRow = prepare<WorkspaceFileRow, unknown>((db, p) =>
  db
    .insertInto("workspace_files")
    .values({
      session_id: p("session_id"),
      path: p("path"),
      org_id: p("org_id"),
      sha256: p("sha256"),
      media_type: p("media_type"),
      size: p("size"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.columns(["session_id", "path"]).doUpdateSet({
        sha256: p("sha256"),
        media_type: p("media_type"),
        size: p("size"),
        updated_at: p("updated_at"),
      }),
    ),
);
export function saveFile(tx: Tx, row: WorkspaceFileRow): Promise<number> {
  return tx.run(upsertFileRow, row);
}

export async function forgetFiles(
  tx: Tx,
  sessionId: string,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  const query = builder<KernelTables>(tx.dialect)
    .deleteFrom("workspace_files")
    .where("session_id", "=", sessionId)
    .where("path", "in", paths);
  await tx.execute(query.compile());
}

const selectFiles = prepare<{ sessionId: string; limit: number }, WorkspaceFileRow>((db, p) =>
  db
    .selectFrom("workspace_files")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .orderBy("path")
    .limit(p("limit")),
);
export function listFiles(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<WorkspaceFileRow[]> {
  return reader.all(selectFiles, { sessionId, limit });
}

const selectFile = prepare<{ sessionId: string; path: string }, WorkspaceFileRow>((db, p) =>
  db
    .selectFrom("workspace_files")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("path", "=", p("path")),
);
export function findFile(
  reader: Reader,
  sessionId: string,
  path: string,
): Promise<WorkspaceFileRow | undefined> {
  return reader.first(selectFile, { sessionId, path });
}
