/**
 * A lock that allows one process per folder or database. It is an SQLite file held in an exclusive
 * transaction: the operating system frees it however the process dies.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { Refusal } from "../refusal.ts";

export interface FileLock {
  release(): void;
}

const RETRY_EVERY_MS = 25;

/** Waits up to `waitMs` for the holder to release the lock, then refuses with `file_locked`. */
export async function acquireFileLock(path: string, waitMs = 0): Promise<FileLock> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Private, because anybody who can read the file can also lock it.
  closeSync(openSync(path, "a", 0o600));
  const deadline = Date.now() + waitMs;
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (Date.now() >= deadline) {
      throw new Refusal(
        "conflict",
        "file_locked",
        `Another process is using ${path}. Stop it first, or use another folder.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS));
  }
}

function tryLock(path: string): FileLock | undefined {
  const db = new Database(path, { timeout: 0 });
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    db.exec("BEGIN EXCLUSIVE");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") return undefined;
    throw error;
  }
}
