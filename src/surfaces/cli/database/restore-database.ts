/** Goes back to a copy of the database. */

import { realpathSync } from "node:fs";
import { chown, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { acquireFileLock, type FileLock } from "#base/file-lock.ts";
import { Refusal } from "#base/refusal.ts";
import type { Migration } from "#base/store/index.ts";
import { copyDatabase } from "./copy-database.ts";
import { type FencedOff, fenceOff } from "./fence-off.ts";
import { fileStamp } from "./file-stamp.ts";
import { replaceDatabase } from "./replace-database.ts";
import { findDamage, lockPathOf, openReadOnly, readSchemaState } from "./sqlite-file.ts";
import { syncPath } from "./sync-file.ts";

export interface RestoreRequest {
  /** The copy. */
  from: string;
  /** The database to replace. */
  path: string;
  now: number;
}

export interface Restored extends FencedOff {
  path: string;
  /** Where the database that was there before is kept. */
  kept: string | null;
}

/** Held until the new database is in place, so that no server can start in between. */
export async function lockForRestore(path: string): Promise<FileLock> {
  return acquireFileLock(lockPathOf(path)).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== "file_locked") throw error;
    throw new Refusal(
      "conflict",
      "server_running",
      `A server is using ${path}. Stop it, then restore.`,
      { cause: error },
    );
  });
}

/** Refuses a file that this program could not start from. */
export function checkRestorable(
  from: string,
  path: string,
  migrations: readonly Migration[],
): void {
  if (isSameFile(from, path)) {
    throw new Refusal(
      "invalid",
      "same_file",
      "That file is the database itself. Name a copy of it.",
    );
  }
  const db = openReadOnly(from);
  try {
    const schema = readSchemaState(db, migrations);
    if (schema.kind === "foreign") {
      throw new Refusal(
        "invalid",
        "not_muster",
        `${from} is not a Muster database. Name a file written by: muster backup`,
      );
    }
    if (schema.kind === "newer") {
      throw new Refusal(
        "conflict",
        "schema_newer",
        `${from} was written by a newer Muster (it has ${schema.ids.join(", ")}). Restore it with that version.`,
      );
    }
    const [damage] = findDamage(db);
    if (damage)
      throw new Refusal(
        "invalid",
        "file_damaged",
        `${from} is damaged (${damage}). Use another copy.`,
      );
  } finally {
    db.close();
  }
}

/** The caller has checked the file and holds the lock. */
export async function restoreDatabase({ from, path, now }: RestoreRequest): Promise<Restored> {
  const stamp = fileStamp(now);
  const draft = `${path}.restoring-${stamp}`;
  try {
    const source = openReadOnly(from);
    try {
      await copyDatabase(source, draft);
    } finally {
      source.close();
    }
    // Before it takes its place: a database that old runners could write to is never in sight.
    const fenced = fenceOff(draft, now);
    await giveToOwnerOf(dirname(path), draft, lockPathOf(path));
    await syncPath(draft);
    const kept = await replaceDatabase(path, draft, stamp);
    return { path, kept: kept ?? null, ...fenced };
  } finally {
    await rm(draft, { force: true });
  }
}

/** Run by root for another user, the files must stay that user's. */
async function giveToOwnerOf(folder: string, ...paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  for (const path of paths) await chown(path, uid, gid);
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
