/** Copies every table of a SQLite database into an empty PostgreSQL one, in one transaction. */
import type Database from "better-sqlite3";
import type pg from "pg";
import { Refusal } from "#base/refusal.ts";
import type { Migration } from "#base/store/index.ts";

/** Rows per statement: PostgreSQL takes 65,535 values, and large ones must not pile up. */
const MAX_VALUES = 20_000;
const MAX_BYTES = 4 * 1024 * 1024;

interface Column {
  name: string;
  isWhole: boolean;
  /** True if its numbers come from a sequence. */
  isIdentity: boolean;
}

/** Returns the number of rows per table. The caller's transaction rolls back when this throws. */
export async function copyToPostgres(
  from: Database.Database,
  to: pg.ClientBase,
  migrations: readonly Migration[],
  now: number,
): Promise<Record<string, number>> {
  await makeSchema(to, migrations, now);
  const counts: Record<string, number> = {};
  for (const table of tablesOf(from)) {
    const columns = await columnsOf(to, table);
    if (columns.length === 0) throw new Error(`PostgreSQL has no table ${table}`);
    counts[table] = await copyTable(from, to, table, columns);
  }
  return counts;
}

async function makeSchema(
  to: pg.ClientBase,
  migrations: readonly Migration[],
  now: number,
): Promise<void> {
  await to.query(
    "create table schema_migrations (id text primary key, applied_at bigint not null)",
  );
  for (const migration of migrations) {
    for (const statement of migration.statements("postgres")) await to.query(statement);
    await to.query("insert into schema_migrations (id, applied_at) values ($1, $2)", [
      migration.id,
      now,
    ]);
  }
}

/** Lists tables without those that SQLite makes for itself, such as parts of its full-text index. */
function tablesOf(from: Database.Database): string[] {
  const tables = from.pragma("table_list") as { schema: string; name: string; type: string }[];
  return tables
    .filter(({ schema, type }) => schema === "main" && type === "table")
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("sqlite_") && name !== "schema_migrations")
    .sort();
}

async function columnsOf(to: pg.ClientBase, table: string): Promise<Column[]> {
  const { rows } = await to.query<{ name: string; type: string; identity: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type, attidentity as identity
     from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
    [table],
  );
  return rows.map(({ name, type, identity }) => ({
    name,
    isWhole: /^(bigint|integer|smallint)$/.test(type),
    isIdentity: identity !== "",
  }));
}

async function copyTable(
  from: Database.Database,
  to: pg.ClientBase,
  table: string,
  columns: readonly Column[],
): Promise<number> {
  requireSameColumns(from, table, columns);
  // Triggers record changes for the search, and those records are copied like any other table.
  await to.query(`alter table ${table} disable trigger user`);
  // A migration may have inserted rows, which the copy has too.
  await to.query(`delete from ${table}`);
  const names = columns.map(({ name }) => quoted(name));
  const perBatch = Math.max(1, Math.floor(MAX_VALUES / columns.length));
  let rows: unknown[][] = [];
  let bytes = 0;
  const flush = async () => {
    if (rows.length > 0) await insertRows(to, table, names, rows);
    rows = [];
    bytes = 0;
  };
  for (const row of from
    .prepare(`select ${names.join(", ")} from ${table}`)
    .raw()
    .iterate()) {
    const values = (row as unknown[]).map((value, n) =>
      convert(value, columns[n]?.isWhole === true),
    );
    rows.push(values);
    bytes += values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    if (rows.length >= perBatch || bytes >= MAX_BYTES) await flush();
  }
  await flush();
  await continueSequences(to, table, columns);
  await to.query(`alter table ${table} enable trigger user`);
  return requireSameCount(from, to, table);
}

async function insertRows(
  to: pg.ClientBase,
  table: string,
  names: readonly string[],
  rows: readonly unknown[][],
): Promise<void> {
  let count = 0;
  const tuples = rows.map((row) => `(${row.map(() => `$${++count}`).join(", ")})`);
  await to.query(
    `insert into ${table} (${names.join(", ")}) overriding system value values ${tuples.join(", ")}`,
    rows.flat(),
  );
}

/** SQLite stores fractions in integer columns, and NUL in text; PostgreSQL accepts neither. */
function convert(value: unknown, isWhole: boolean): unknown {
  if (typeof value === "number" && isWhole) return Math.round(value);
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;
}

function sizeOf(value: unknown): number {
  return typeof value === "string" || value instanceof Buffer ? value.length : 8;
}

async function continueSequences(
  to: pg.ClientBase,
  table: string,
  columns: readonly Column[],
): Promise<void> {
  for (const { name } of columns.filter(({ isIdentity }) => isIdentity))
    await to.query(
      `select setval(pg_get_serial_sequence($1, $2), greatest((select max(${quoted(name)}) from ${table}), 1))`,
      [table, name],
    );
}

function requireSameColumns(
  from: Database.Database,
  table: string,
  columns: readonly Column[],
): void {
  const known = new Set(columns.map(({ name }) => name));
  const own = (from.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  const missing = own.filter((name) => !known.has(name));
  if (missing.length > 0 || own.length !== known.size)
    throw new Error(`the columns of ${table} differ: ${missing.join(", ")}`);
}

async function requireSameCount(
  from: Database.Database,
  to: pg.ClientBase,
  table: string,
): Promise<number> {
  const had = from.prepare(`select count(*) from ${table}`).pluck().get() as number;
  const { rows } = await to.query<{ n: string }>(`select count(*) as n from ${table}`);
  const has = Number(rows[0]?.n);
  if (has === had) return has;
  throw new Refusal(
    "unavailable",
    "copy_incomplete",
    `Only ${has} of ${had} rows of ${table} were copied. Nothing was kept. Try again.`,
  );
}

function quoted(name: string): string {
  return `"${name}"`;
}
