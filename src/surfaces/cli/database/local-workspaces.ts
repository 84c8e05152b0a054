/** Finds sessions whose files are on runners, and the runner that is this machine's own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureMachineIdentity, findFingerprint } from "#base/machine/machine-identity.ts";
import type { RestoreDb } from "./restore-db.ts";

export interface RunnerFiles {
  runnerId: string;
  name: string;
  /** Number of sessions whose files are there. */
  sessions: number;
  /** True for the runner of this data folder, which has the files. */
  isHere: boolean;
}

interface HeldRow {
  id: string;
  runner_id: string;
  name: string | null;
  machine: string | null;
}

/**
 * A copy from before machines had keys names no machine. The runner whose workspaces are in this data folder
 * is this machine's, so it gets this machine's key.
 */
export async function bindLocalRunner(db: RestoreDb, runnerFolder: string): Promise<RunnerFiles[]> {
  const held = await db.all<HeldRow>(
    `select workspaces.id, workspaces.runner_id, runners.name, runners.machine from workspaces
     left join runners on runners.id = workspaces.runner_id`,
  );
  const files: RunnerFiles[] = [];
  for (const [runnerId, rows] of Map.groupBy(held, (row) => row.runner_id)) {
    const isHere = await isLocal(db, runnerFolder, rows);
    files.push({ runnerId, name: rows[0]?.name ?? runnerId, sessions: rows.length, isHere });
  }
  return files;
}

/** `rows` are the workspaces of one runner. */
async function isLocal(
  db: RestoreDb,
  runnerFolder: string,
  rows: readonly HeldRow[],
): Promise<boolean> {
  const [runner] = rows;
  if (!runner || runner.name === null) return false;
  if (runner.machine !== null) return runner.machine === findFingerprint(runnerFolder);
  if (!rows.some(({ id }) => isOnDisk(runnerFolder, id))) return false;
  // Under root, an existing one may belong to another user.
  const fingerprint =
    findFingerprint(runnerFolder) ?? ensureMachineIdentity(runnerFolder).fingerprint;
  const taken = await db.all("select 1 from runners where machine = ?", fingerprint);
  if (taken.length > 0) return false;
  await db.run("update runners set machine = ? where id = ?", fingerprint, runner.runner_id);
  return true;
}

/** True for a workspace that is in use, or was removed within the last week. */
function isOnDisk(runnerFolder: string, workspaceId: string): boolean {
  return ["workspaces", "removed"].some((part) =>
    existsSync(join(runnerFolder, part, workspaceId)),
  );
}
