/**
 * Restores onto PostgreSQL: a SQLite copy into an empty database, or a database that pg_restore has restored.
 */
import type Database from "better-sqlite3";
import type pg from "pg";
import { redactText } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { Migration } from "#base/store/index.ts";
import { copyToPostgres } from "./copy-to-postgres.ts";
import { type MadeSafe, makeSafe, type SafetyOptions } from "./make-safe.ts";
import { postgresDb } from "./restore-db.ts";
import { compareSchema } from "./sqlite-file.ts";

/** Lock of the server's migrations: no server starts work before the transaction is over. */
const MIGRATION_LOCK = 7_474_747;
const CONNECT_TIMEOUT_MS = 5_000;

/** Runs one transaction, and rolls back when `work` throws. */
export async function inPostgresTransaction<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { default: driver } = await import("pg");
  const client = new driver.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "muster restore",
  });
  // The next query notices a connection that was lost between two queries.
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw new Refusal(
      "unavailable",
      "database_unreachable",
      `PostgreSQL cannot be reached: ${redactText((error as Error).message)}. Check MUSTER_DATABASE_URL.`,
      { cause: error },
    );
  });
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const result = await work(client);
    await client.query("commit");
    return result;
  } finally {
    // Without a commit, ending the connection rolls back.
    await client.end().catch(() => {});
  }
}

/** Checked before the person is asked, and again in the transaction. */
export async function requireEmpty(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = current_schema() limit 1",
  );
  if (rows.length === 0) return;
  throw new Refusal(
    "conflict",
    "database_not_empty",
    `The PostgreSQL database already has tables (${rows[0]?.name}). Create an empty one (createdb), name it in MUSTER_DATABASE_URL, and restore again.`,
  );
}

/** `draft` is already migrated and safe. Returns the number of rows per table. */
export async function restoreToPostgres(
  url: string,
  draft: Database.Database,
  migrations: readonly Migration[],
  now: number,
): Promise<Record<string, number>> {
  return inPostgresTransaction(url, async (client) => {
    await requireEmpty(client);
    return copyToPostgres(draft, client, migrations, now);
  });
}

/** Makes a database safe that PostgreSQL's own tools have restored. */
export async function adoptPostgres(
  url: string,
  migrations: readonly Migration[],
  options: SafetyOptions,
  before: (safe: MadeSafe) => void,
): Promise<MadeSafe> {
  return inPostgresTransaction(url, async (client) => {
    await requireNoServer(client);
    await applyMigrations(client, migrations, options.now);
    const safe = await makeSafe(postgresDb(client), options);
    before(safe);
    return safe;
  });
}

async function requireNoServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    "select 1 from pg_stat_activity where datname = current_database() and application_name = 'muster'",
  );
  if (rows.length === 0) return;
  throw new Refusal(
    "conflict",
    "server_running",
    "A server is using this database. Stop every server, then try again.",
  );
}

async function applyMigrations(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  now: number,
): Promise<void> {
  const table = await client.query<{ name: string | null }>(
    "select to_regclass('schema_migrations')::text as name",
  );
  const applied = table.rows[0]?.name
    ? (await client.query<{ id: string }>("select id from schema_migrations")).rows
    : [];
  const schema = compareSchema(
    applied.map(({ id }) => id),
    migrations,
  );
  if (schema.kind === "foreign")
    throw new Refusal(
      "invalid",
      "not_muster",
      "This is not a Muster database. Check MUSTER_DATABASE_URL.",
    );
  if (schema.kind === "newer")
    throw new Refusal(
      "conflict",
      "schema_newer",
      `The database was written by a newer Muster (it has ${schema.ids.join(", ")}). Use that version.`,
    );
  if (schema.kind === "current") return;
  for (const migration of migrations.filter(({ id }) => schema.ids.includes(id))) {
    for (const statement of migration.statements("postgres")) await client.query(statement);
    await client.query("insert into schema_migrations (id, applied_at) values ($1, $2)", [
      migration.id,
      now,
    ]);
  }
}
