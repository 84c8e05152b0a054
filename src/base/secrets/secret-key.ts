/**
 * The server's secret key, and the check that a database was written with it. The database stores a
 * check value that does not reveal the key. A database of an earlier version has none: there the
 * key must open a stored value.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../refusal.ts";
import type { Dialect } from "../store/index.ts";
import { createSealer, type SealBinding } from "./seal.ts";

/** A column whose values are sealed with the server's key. */
export interface EncryptedColumn {
  table: string;
  column: string;
  /** Purpose of the sealer. */
  purpose: string;
  /** Location that the value of a row is bound to. */
  bindingOf(row: Record<string, string>): SealBinding;
  /** Removes only the value, or its whole row, if no key can open it. */
  forget: "value" | "row";
}

/** Reads rows. The caller knows the database. */
export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * `unrecorded`: nothing contradicts the key, and the database has no check value yet. `missing`:
 * there is no key, but the database was written with one.
 */
export type KeyVerdict = "good" | "unrecorded" | "missing" | "wrong";

const PURPOSE = "muster secret key check";
const SAMPLES = 20;

/** HMAC-SHA256 under a key that is derived from the secret key for one purpose. */
export function keyedDigest(secretKey: string, purpose: string, text: string): string {
  const key = Buffer.from(hkdfSync("sha256", secretKey, "", purpose, 32));
  return createHmac("sha256", key).update(text).digest("hex");
}

export function isSameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function secretKeyFile(home: string): string {
  return join(home, "secret.key");
}

/** The key from the settings, else from the data folder; undefined if neither has one. */
export function findSecretKey(fromSettings: string | undefined, home: string): string | undefined {
  if (fromSettings !== undefined) return fromSettings;
  const file = secretKeyFile(home);
  if (!existsSync(file)) return undefined;
  const key = readFileSync(file, "utf8").trim();
  if (key !== "") return key;
  throw new Refusal(
    "invalid",
    "secret_key_missing",
    `${file} is empty. Restore the key from a backup.`,
  );
}

export async function verifySecretKey(
  query: Query,
  dialect: Dialect,
  columns: readonly EncryptedColumn[],
  secretKey: string | undefined,
): Promise<KeyVerdict> {
  const check = await readCheck(query, dialect);
  if (check !== undefined) {
    if (secretKey === undefined) return "missing";
    return isSameDigest(check, checkOf(secretKey)) ? "good" : "wrong";
  }
  let found = 0;
  for (const column of columns) {
    if (!(await hasTable(query, dialect, column.table))) continue;
    const rows = (await query(
      `select * from ${column.table} where ${column.column} is not null limit ${SAMPLES}`,
    )) as Record<string, string>[];
    found += rows.length;
    if (secretKey === undefined) continue;
    const sealer = createSealer(secretKey, column.purpose);
    const opens = (row: Record<string, string>) =>
      sealer.opens(row[column.column] ?? "", column.bindingOf(row));
    if (rows.some(opens)) return "unrecorded";
  }
  if (found === 0) return "unrecorded";
  return secretKey === undefined ? "missing" : "wrong";
}

/** Statement that stores the check value unless there is one. The values contain no quotes. */
export function recordStatement(secretKey: string, now: number): string {
  return `insert into secret_key (id, check_value, created_at) values (1, '${checkOf(secretKey)}', ${now}) on conflict (id) do nothing`;
}

/**
 * Statements that remove everything only another key could open, so that the next start records its
 * own key.
 */
export async function forgetStatements(
  query: Query,
  dialect: Dialect,
  columns: readonly EncryptedColumn[],
): Promise<string[]> {
  const statements: string[] = [];
  for (const { table, column, forget } of columns) {
    if (!(await hasTable(query, dialect, table))) continue;
    if (forget === "row") statements.push(`delete from ${table}`);
    else statements.push(`update ${table} set ${column} = null where ${column} is not null`);
  }
  if (await hasTable(query, dialect, "secret_key")) statements.push("delete from secret_key");
  // The end of the audit trail is signed with the lost key.
  if (await hasTable(query, dialect, "audit_head"))
    statements.push("update audit_head set mac = ''");
  return statements;
}

/** `next`: the command that continues without the encrypted values. */
export function keyRefusal(verdict: "missing" | "wrong", home: string, next: string): Refusal {
  const what =
    verdict === "missing"
      ? "This database was written with a secret key, and there is none here."
      : "The secret key here is not the one this database was written with.";
  return new Refusal(
    "conflict",
    verdict === "missing" ? "secret_key_missing" : "secret_key_wrong",
    `${what} Nothing was changed. Put the right one in ${secretKeyFile(home)} (mode 0600) or in MUSTER_SECRET_KEY. If it is lost, providers' keys and stored secrets are lost too; to remove them and continue: ${next}`,
  );
}

function checkOf(secretKey: string): string {
  return keyedDigest(secretKey, PURPOSE, "check");
}

async function readCheck(query: Query, dialect: Dialect): Promise<string | undefined> {
  if (!(await hasTable(query, dialect, "secret_key"))) return undefined;
  const [row] = await query("select check_value from secret_key where id = 1");
  return row?.check_value as string | undefined;
}

async function hasTable(query: Query, dialect: Dialect, name: string): Promise<boolean> {
  const sql =
    dialect === "sqlite"
      ? `select 1 as here from sqlite_master where type = 'table' and name = '${name}'`
      : `select 1 as here where to_regclass('${name}') is not null`;
  return (await query(sql)).length > 0;
}
