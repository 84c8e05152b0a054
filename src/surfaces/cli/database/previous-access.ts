/**
 * Access according to the database that a restore replaces. It shows what was revoked after the copy was
 * made, if it continues from the copy: then it contains the end of the copy's audit trail.
 */
import { existsSync } from "node:fs";
import type Database from "better-sqlite3";
import { hasTable, type RestoreDb, sqliteDb } from "./restore-db.ts";
import { openReadOnly } from "./sqlite-file.ts";

interface Row {
  [column: string]: unknown;
}

export interface PreviousAccess {
  /** Ids of valid credentials. */
  credentials: ReadonlySet<string>;
  users: ReadonlyMap<string, { removed_at: number | null; role: string }>;
  passwords: ReadonlyMap<string, { hash: string; updated_at: number }>;
  linkedAccounts: ReadonlySet<string>;
  /** Ids of invitations that can still be accepted. */
  invitations: ReadonlySet<string>;
  purges: readonly Row[];
  allowRules: ReadonlySet<string>;
  /** Rules of the organisation that ask or deny. */
  strictRules: readonly Row[];
  gateways: readonly GatewayRow[];
}

/** Machines that reach the organisation's models. */
export interface GatewayRow {
  org_id: string;
  personal_runners: number;
  environment_keys: number;
  updated_at: number;
}

export interface TrailEnd {
  seq: number;
  hash: string;
}

/**
 * Returns undefined when no such database exists, it cannot be read, or it does not continue from the copy.
 */
export async function readPreviousAccess(
  path: string,
  copy: RestoreDb,
): Promise<PreviousAccess | undefined> {
  if (!existsSync(path)) return undefined;
  let db: Database.Database | undefined;
  try {
    db = openReadOnly(path);
    const previous = sqliteDb(db);
    return (await continuesFrom(previous, copy)) ? await readAccess(previous) : undefined;
  } catch {
    // The database is damaged, which may be why it is replaced.
    return undefined;
  } finally {
    db?.close();
  }
}

export async function readTrailEnd(db: RestoreDb): Promise<TrailEnd> {
  const [head] = (await hasTable(db, "audit_head"))
    ? await db.all<TrailEnd>("select seq, hash from audit_head where id = 1")
    : [];
  return { seq: Number(head?.seq ?? 0), hash: head?.hash ?? "" };
}

async function continuesFrom(previous: RestoreDb, copy: RestoreDb): Promise<boolean> {
  const orgs = await previous.all<{ id: string }>("select id from orgs");
  const known = new Set(orgs.map(({ id }) => id));
  for (const { id } of await copy.all<{ id: string }>("select id from orgs"))
    if (!known.has(id)) return false;
  const end = await readTrailEnd(copy);
  if (end.seq === 0) return true;
  const [row] = await previous.all<{ hash: string }>(
    "select hash from audit_events where seq = ?",
    end.seq,
  );
  return row?.hash === end.hash;
}

async function readAccess(db: RestoreDb): Promise<PreviousAccess> {
  const rowsOf = async <R = Row>(table: string, sql: string): Promise<R[]> =>
    (await hasTable(db, table)) ? db.all<R>(sql) : [];
  const idsOf = async (table: string, sql: string) =>
    new Set((await rowsOf<{ id: string }>(table, sql)).map(({ id }) => id));
  type User = { id: string; removed_at: number | null; role: string };
  type Password = { user_id: string; hash: string; updated_at: number };
  const users = await rowsOf<User>("users", "select * from users");
  const passwords = await rowsOf<Password>("passwords", "select * from passwords");
  return {
    credentials: await idsOf("credentials", "select id from credentials where revoked_at is null"),
    users: new Map(users.map((user) => [user.id, user])),
    passwords: new Map(passwords.map((row) => [row.user_id, row])),
    linkedAccounts: await idsOf("linked_accounts", "select id from linked_accounts"),
    invitations: await idsOf(
      "invitations",
      "select id from invitations where revoked_at is null and accepted_at is null",
    ),
    purges: await rowsOf("member_purges", "select * from member_purges"),
    allowRules: await idsOf("policy_rules", "select id from policy_rules where effect = 'allow'"),
    strictRules: await rowsOf(
      "policy_rules",
      "select * from policy_rules where effect <> 'allow' and level = 'org' and session_id is null",
    ),
    gateways: await rowsOf<GatewayRow>("gateway_settings", "select * from gateway_settings"),
  };
}
