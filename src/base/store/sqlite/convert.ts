/**
 * Converts a database file of an earlier version to the form that can shrink (`auto_vacuum =
 * INCREMENTAL`). SQLite can only do that by rewriting the file, so it is done once, before the
 * server accepts requests: a copy beside the file replaces it when it is complete and synced. A
 * kill at any moment leaves either the old file or the new one, intact.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import type { Log } from "../../log.ts";
import { createPrivateFile } from "../../machine/private-files.ts";

/** Required free space, as a multiple of the file's size. */
const ROOM = 1.2;

/** Must be called while the file is locked, before anything else has opened it. */
export function convertToIncremental(given: string, log: Log): void {
  if (!existsSync(given) || statSync(given).size === 0) return;
  const path = realpathSync(given);
  const copy = `${path}.shrinkable.part`;
  const wasKilled = existsSync(copy);
  rmSync(copy, { force: true });
  const db = new Database(path, { timeout: 0 });
  try {
    if (db.pragma("auto_vacuum", { simple: true }) !== 0) return;
    if (wasKilled) {
      // A supervisor that limits the time of a start would kill it at every start.
      log.warn(
        { path },
        "rewriting the database file was interrupted; this start continues without it, and the next one tries again",
      );
      return;
    }
    if (!hasRoom(path)) {
      log.warn(
        { path },
        "the database file cannot shrink until it is rewritten, and there is not enough space for that; free as much space as it uses and start again",
      );
      return;
    }
    log.info({ path }, "rewriting the database file, once, so that it can shrink");
    createPrivateFile(copy);
    db.pragma("auto_vacuum = INCREMENTAL");
    db.prepare("vacuum into ?").run(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    log.warn({ err: error }, "the database file was not rewritten; it is used as it is");
    return;
  } finally {
    db.close();
  }
  // Another program has the file open, so its log may hold changes that the file does not.
  if (existsSync(`${path}-wal`)) rmSync(copy, { force: true });
  else replaceFile(copy, path);
}

function hasRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return bavail * bsize > (statSync(path).size + log) * ROOM;
}

function replaceFile(copy: string, path: string): void {
  sync(copy);
  renameSync(copy, path);
  sync(dirname(path));
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
