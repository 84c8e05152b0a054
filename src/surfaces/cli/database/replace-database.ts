/**
 * Replaces the present database file, which is kept beside the new one. The caller holds the lock. At every
 * moment the path leads to a complete database: the old one, then the new one.
 */
import { constants, existsSync, statSync } from "node:fs";
import { copyFile, link, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { syncPath } from "./sync-file.ts";

/** Returns the path of the kept database; undefined when there was none. */
export async function replaceDatabase(
  path: string,
  replacement: string,
  stamp: string,
): Promise<string | undefined> {
  const folder = dirname(path);
  const kept = existsSync(path) ? nameToKeep(path, stamp) : undefined;
  if (kept) {
    emptyLog(path);
    await keep(path, kept);
    // Only a damaged database still has a log here; the log belongs to the kept file.
    if (existsSync(`${path}-wal`)) await keep(`${path}-wal`, `${kept}-wal`);
    await syncPath(folder);
  }
  // SQLite would apply a log of the old file to the new one.
  for (const stale of [`${path}-wal`, `${path}-shm`]) await rm(stale, { force: true });
  await syncPath(folder);
  await rename(replacement, path);
  await syncPath(folder);
  return kept;
}

/** Moves the log into the file, so that the file alone is the database. */
function emptyLog(path: string): void {
  try {
    const db = new Database(path, { fileMustExist: true });
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.close();
  } catch {
    // The database is damaged, which may be why it is replaced: it is kept as it is, with its log.
  }
}

/** A restore in the same second may have taken the name, or have kept this very file and been killed. */
function nameToKeep(path: string, stamp: string): string {
  for (let count = 1; ; count++) {
    const name = `${path}.replaced-${stamp}${count === 1 ? "" : `-${count}`}`;
    if (!existsSync(name) || statSync(name).ino === statSync(path).ino) return name;
  }
}

async function keep(path: string, name: string): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      if (statSync(path).ino === statSync(name).ino) return;
      throw error;
    }
    // Not every file system has links.
    await copyFile(path, name, constants.COPYFILE_EXCL);
    await syncPath(name);
  }
}
