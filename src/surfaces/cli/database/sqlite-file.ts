/** The database file for readers other than the server: read-only, and without its lock. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import Database from "better-sqlite3";
import { Refusal } from "#base/refusal.ts";
import type { Migration } from "#base/store/index.ts";

const BUSY_TIMEOUT_MS = 5_000;

/** The path in a `sqlite:` address. */
export function sqlitePathOf(databaseUrl: string): string {
  const path = databaseUrl.slice("sqlite:".length);
  if (path === ":memory:") {
    throw new Refusal(
      "unsupported",
      "database_in_memory",
      "This database is in memory only: there is no file.",
    );
  }
  return resolve(path);
}

export function lockPathOf(databasePath: string): string {
  return `${databasePath}.lock`;
}

/** Opens for reading, or refuses with the problem of the file. */
export function openReadOnly(path: string): Database.Database {
  if (!existsSync(path)) {
    throw new Refusal(
      "not_found",
      "file_missing",
      `${path} does not exist. Check the path and MUSTER_HOME.`,
    );
  }
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    db.prepare("select count(*) from sqlite_master").get();
    return db;
  } catch (error) {
    db?.close();
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, cause: unknown): Refusal {
  const { code = "", message } = cause as { code?: string; message: string };
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new Refusal(
      "invalid",
      "file_damaged",
      `${path} is not a database, or it is damaged (${message}).`,
      { cause },
    );
  }
  return new Refusal("unavailable", "file_unreadable", `${path} cannot be read: ${message}.`, {
    cause,
  });
}

/** Lists damage in the file; empty when it is intact. */
export function findDamage(db: Database.Database): string[] {
  try {
    const lines = db.pragma("quick_check(20)") as { quick_check: string }[];
    return lines.map((line) => line.quick_check).filter((text) => text !== "ok");
  } catch (error) {
    return [(error as Error).message];
  }
}

export type SchemaState =
  | { kind: "foreign" }
  | { kind: "newer"; ids: string[] }
  | { kind: "older"; ids: string[] }
  | { kind: "current"; ids: string[] };

export function readSchemaState(db: Database.Database, known: readonly Migration[]): SchemaState {
  const table = db
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'schema_migrations'")
    .get();
  if (!table) return { kind: "foreign" };
  return compareSchema(
    db.prepare("select id from schema_migrations").pluck().all() as string[],
    known,
  );
}

export function compareSchema(
  applied: readonly string[],
  known: readonly Migration[],
): SchemaState {
  const knownIds = known.map((migration) => migration.id);
  const [first] = knownIds;
  if (first === undefined || !applied.includes(first)) return { kind: "foreign" };
  const newer = applied.filter((id) => !knownIds.includes(id));
  if (newer.length > 0) return { kind: "newer", ids: newer };
  const missing = knownIds.filter((id) => !applied.includes(id));
  return missing.length > 0 ? { kind: "older", ids: missing } : { kind: "current", ids: knownIds };
}

export interface LockHolder {
  /** Known where the system reports it. */
  pid: number | undefined;
}

/**
 * Finds a server that uses the database. The check does not take the lock, so a server may start meanwhile.
 */
export function findLockHolder(databasePath: string): LockHolder | undefined {
  const path = lockPathOf(databasePath);
  if (!existsSync(path)) return undefined;
  const pid = lockingProcess(path);
  if (pid !== undefined) return { pid };
  return isLocked(path) ? { pid: undefined } : undefined;
}

function isLocked(path: string): boolean {
  const db = new Database(path, { readonly: true, timeout: 0 });
  try {
    db.prepare("select count(*) from sqlite_master").get();
    return false;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) return true;
    throw error;
  } finally {
    db.close();
  }
}

/** Linux lists holders of locks: `1: POSIX ADVISORY WRITE <pid> <major>:<minor>:<inode> …`. */
function lockingProcess(path: string): number | undefined {
  try {
    const inode = String(statSync(path).ino);
    for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
      const [, , , access, pid, place = ""] = line.trim().split(/\s+/);
      if (access === "WRITE" && place.split(":")[2] === inode && Number(pid) > 0)
        return Number(pid);
    }
  } catch {
    // Other systems have no such list.
  }
  return undefined;
}
