/** Restores a copy of the database: in its own file, in PostgreSQL, or where other tools put it. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { chown, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import type { Config } from "#base/config.ts";
import { acquireFileLock, type FileLock } from "#base/machine/file-lock.ts";
import { auditHeadFile, restoreNoteFile } from "#base/machine/home-files.ts";
import { identityFile } from "#base/machine/machine-identity.ts";
import { ensurePrivateFolder, writePrivateFile } from "#base/machine/private-files.ts";
import { Refusal } from "#base/refusal.ts";
import {
  type EncryptedColumn,
  findSecretKey,
  keyRefusal,
  verifySecretKey,
} from "#base/secrets/secret-key.ts";
import type { Migration } from "#base/store/index.ts";
import { fileStamp } from "./file-stamp.ts";
import type { MadeSafe, SafetyOptions } from "./make-safe.ts";
import { isPostgres } from "./postgres-address.ts";
import { makeDatabaseSafe, prepareDraft } from "./prepare-draft.ts";
import { replaceDatabase } from "./replace-database.ts";
import { postgresDb, type RestoreDb, sqliteDb } from "./restore-db.ts";
import { adoptPostgres, inPostgresTransaction, restoreToPostgres } from "./restore-postgres.ts";
import {
  findDamage,
  lockPathOf,
  openReadOnly,
  readSchemaState,
  sqlitePathOf,
} from "./sqlite-file.ts";
import { syncPath } from "./sync-file.ts";

export interface RestoreRequest {
  config: Pick<Config, "home" | "databaseUrl" | "secretKey">;
  migrations: readonly Migration[];
  encrypted: readonly EncryptedColumn[];
  /** True if the caller knows that nothing was revoked since the copy was made. */
  keepAccess: boolean;
  /** Continues without encrypted data, because the key is lost. */
  withoutSecrets: boolean;
  now: number;
}

export interface Restored extends Omit<MadeSafe, "note"> {
  /** The database, or PostgreSQL's address without its password. */
  path: string;
  /** Path of the kept previous database. */
  kept: string | null;
  /** Rows by table, when they were copied to PostgreSQL. */
  rows: Record<string, number> | null;
}

/** SQLite file of this data folder: the one to replace, or the one that PostgreSQL succeeds. */
export function databaseFileOf({ home, databaseUrl }: RestoreRequest["config"]): string {
  return isPostgres(databaseUrl) ? join(home, "muster.db") : sqlitePathOf(databaseUrl);
}

/** Locks the database until the new one is in place, so that no server can start in between. */
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
      "That file is the database itself. Name a backup of it.",
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
        `${from} is damaged (${damage}). Use another backup.`,
      );
  } finally {
    db.close();
  }
}

/** Returns the columns to empty: none when the key opens them. Otherwise refuses, unless told to continue. */
export async function checkSecretKey(
  request: RestoreRequest,
  from: string | undefined,
): Promise<readonly EncryptedColumn[]> {
  const { config, encrypted, withoutSecrets } = request;
  const secretKey = findSecretKey(config.secretKey, config.home);
  const judge = ({ dialect, all }: RestoreDb) =>
    verifySecretKey((sql) => all(sql), dialect, encrypted, secretKey);
  const verdict =
    from === undefined && isPostgres(config.databaseUrl)
      ? await inPostgresTransaction(config.databaseUrl, (client) => judge(postgresDb(client)))
      : await readOnce(from ?? sqlitePathOf(config.databaseUrl), judge);
  if (verdict === "good" || verdict === "unrecorded") return [];
  if (withoutSecrets) return encrypted;
  throw keyRefusal(verdict, config.home, "run this again with --without-secrets");
}

async function readOnce<T>(path: string, read: (db: RestoreDb) => Promise<T>): Promise<T> {
  const db = openReadOnly(path);
  try {
    return await read(sqliteDb(db));
  } finally {
    db.close();
  }
}

/** Restores a file. The caller has checked it and holds the lock. */
export async function restoreSqlite(
  request: RestoreRequest,
  from: string,
  forget: readonly EncryptedColumn[],
): Promise<Restored> {
  const { config, migrations, now } = request;
  const path = sqlitePathOf(config.databaseUrl);
  const stamp = fileStamp(now);
  const draft = `${path}.restoring-${stamp}`;
  removeDrafts(path);
  try {
    const options = safetyOptions(request, forget);
    // Made safe before it takes its place: a database that old runners could write to is never visible.
    const safe = await prepareDraft({ from, draft, previous: path, migrations, options });
    await giveToOwnerOf(dirname(path), draft, lockPathOf(path));
    await syncPath(draft);
    await leaveNote(config.home, safe);
    const kept = await replaceDatabase(path, draft, stamp);
    return report(safe, path, { kept: kept ?? null });
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes drafts of killed restores; no other process makes any, because the caller holds the lock. */
function removeDrafts(path: string): void {
  const prefix = `${basename(path)}.restoring-`;
  for (const name of existsSync(dirname(path)) ? readdirSync(dirname(path)) : [])
    if (name.startsWith(prefix)) rmSync(join(dirname(path), name));
}

/** Restores onto PostgreSQL. The caller holds the lock of the SQLite database that it succeeds. */
export async function restoreOntoPostgres(
  request: RestoreRequest,
  from: string,
  forget: readonly EncryptedColumn[],
  name: string,
): Promise<Restored> {
  const { config, migrations, now } = request;
  ensureHome(config.home);
  const draft = join(config.home, `muster.db.restoring-${fileStamp(now)}`);
  removeDrafts(join(config.home, "muster.db"));
  const note = restoreNoteFile(config.home);
  try {
    const previous = databaseFileOf(config);
    const options = safetyOptions(request, forget);
    const safe = await prepareDraft({ from, draft, previous, migrations, options });
    await leaveNote(config.home, safe);
    const db = new Database(draft, { readonly: true });
    try {
      const rows = await restoreToPostgres(config.databaseUrl, db, migrations, now);
      return report(safe, name, { rows });
    } finally {
      db.close();
    }
  } catch (error) {
    await rm(note, { force: true });
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Makes a database safe that other tools have restored. */
export async function adoptDatabase(
  request: RestoreRequest,
  forget: readonly EncryptedColumn[],
  name: string,
): Promise<Restored> {
  const { config, migrations } = request;
  const options = safetyOptions(request, forget);
  if (isPostgres(config.databaseUrl)) {
    const before = (safe: MadeSafe) => writeNote(config.home, safe);
    const all = { ...options, previous: undefined };
    const safe = await adoptPostgres(config.databaseUrl, migrations, all, before);
    await giveHomeBack(config.home);
    return report(safe, name, {});
  }
  const path = sqlitePathOf(config.databaseUrl);
  const safe = await makeDatabaseSafe(path, { previous: path, migrations, options });
  await leaveNote(config.home, safe);
  return report(safe, path, {});
}

function report(
  { note: _note, ...safe }: MadeSafe,
  path: string,
  { kept = null, rows = null }: Partial<Pick<Restored, "kept" | "rows">>,
): Restored {
  return { ...safe, path, kept, rows };
}

function safetyOptions(
  { config: { home }, keepAccess, now }: RestoreRequest,
  forget: readonly EncryptedColumn[],
): Omit<SafetyOptions, "previous"> {
  const keyFile = join(home, "owner.key");
  const ownerKeyHash = existsSync(keyFile)
    ? createHash("sha256").update(readFileSync(keyFile, "utf8").trim()).digest("hex")
    : undefined;
  return { now, keepAccess, ownerKeyHash, runnerFolder: join(home, "runner"), forget };
}

/** Notifies the server that the trail may end earlier than it has seen it. */
function writeNote(home: string, { note, hasForgotten }: MadeSafe): void {
  ensureHome(home);
  // The lost key signed the file; the next start creates it anew.
  if (hasForgotten) rmSync(auditHeadFile(home), { force: true });
  writePrivateFile(restoreNoteFile(home), `${JSON.stringify(note)}\n`);
}

async function leaveNote(home: string, safe: MadeSafe): Promise<void> {
  writeNote(home, safe);
  await giveHomeBack(home);
}

/** Covers the note, and the identity that a machine without one was given. */
async function giveHomeBack(home: string): Promise<void> {
  await giveToOwnerOf(home, restoreNoteFile(home), identityFile(join(home, "runner")));
  await syncPath(home);
}

/** Under root, an existing folder may belong to another user, and stays so. */
function ensureHome(home: string): void {
  if (process.getuid?.() !== 0 || !existsSync(home)) ensurePrivateFolder(home);
}

/** Under root for another user, the files must stay that user's. */
async function giveToOwnerOf(folder: string, ...paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  for (const path of paths.filter((one) => existsSync(one))) await chown(path, uid, gid);
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
