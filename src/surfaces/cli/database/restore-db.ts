/**
 * The database under restore, in one transaction. Both databases take the same statements, with `?` for
 * values.
 */
import type Database from "better-sqlite3";
import type pg from "pg";
import type { Dialect } from "#base/store/index.ts";

export interface RestoreDb {
  dialect: Dialect;
  all<R = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<R[]>;
  /** Returns the number of changed rows. */
  run(sql: string, ...values: unknown[]): Promise<number>;
}

export function sqliteDb(db: Database.Database): RestoreDb {
  return {
    dialect: "sqlite",
    all: async <R>(sql: string, ...values: unknown[]) => db.prepare(sql).all(...values) as R[],
    run: async (sql, ...values) => db.prepare(sql).run(...values).changes,
  };
}

export function postgresDb(client: pg.ClientBase): RestoreDb {
  const send = (sql: string, values: unknown[]) => {
    let count = 0;
    return client.query(
      sql.replaceAll("?", () => `$${++count}`),
      values,
    );
  };
  return {
    dialect: "postgres",
    all: async <R>(sql: string, ...values: unknown[]) => (await send(sql, values)).rows as R[],
    run: async (sql, ...values) => (await send(sql, values)).rowCount ?? 0,
  };
}

export async function hasTable({ dialect, all }: RestoreDb, name: string): Promise<boolean> {
  const rows =
    dialect === "sqlite"
      ? await all("select 1 from sqlite_master where type = 'table' and name = ?", name)
      : await all("select 1 where to_regclass(?) is not null", name);
  return rows.length > 0;
}

/** Rolls back when `work` throws. */
export async function inSqliteTransaction<T>(
  db: Database.Database,
  work: () => Promise<T>,
): Promise<T> {
  db.exec("begin immediate");
  try {
    const result = await work();
    db.exec("commit");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}
