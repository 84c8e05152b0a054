/**
 * Gives a database file of an earlier version the form in which it can shrink (`auto_vacuum =
 * INCREMENTAL`). SQLite can only do that by writing the file anew, so it is done once, before the
 * server serves anybody: a copy beside the file takes its place when it is complete and synced. A kill
 * at any moment leaves the old file or the new one, whole.
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

/** Free space that must be there, in sizes of the file. */
const ROOM = 1.2;

/** Must be called under the lock of the file, before anything else has opened it. */
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
      // By a supervisor that gives a start only so long, it would be killed at every start.
      log.warn(
        { path },
        "writing the database file anew was interrupted; this start goes on without it, and the next one tries again",
      );
      return;
    }
    if (!hasRoom(path)) {
      log.warn(
        { path },
        "the database file cannot shrink until it was written anew, and there is no room for that; free as much space as it takes and start again",
      );
      return;
    }
    log.info({ path }, "writing the database file anew, once, so that it can shrink");
    createPrivateFile(copy);
    db.pragma("auto_vacuum = INCREMENTAL");
    db.prepare("vacuum into ?").run(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    log.warn({ err: error }, "the database file was not written anew; it is used as it is");
    return;
  } finally {
    db.close();
  }
  // Another program has the file open: its log may hold what the file does not.
  if (existsSync(`${path}-wal`)) rmSync(copy, { force: true });
  else putInPlace(copy, path);
}

function hasRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return bavail * bsize > (statSync(path).size + log) * ROOM;
}

function putInPlace(copy: string, path: string): void {
  sync(copy);
  renameSync(copy, path);
  sync(dirname(path));
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
