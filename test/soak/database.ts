/**
 * The product's SQLite file, opened beside the server: measures how much of it is in use, and does
 * the one thing that no client can: move the end of a session a month into the past.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";

const MONTH_MS = 31 * 24 * 60 * 60_000;
const BUSY_MS = 20_000;

/**
 * Tables whose rows stay when a session is purged: the audit trail and the usage belong to the
 * organisation, and messages belong to their recipients.
 */
const KEPT_TABLES = /^(audit|usage|messages|mail)/;

export class Database {
  readonly #file: string;
  readonly #db: Sqlite.Database;

  constructor(home: string) {
    this.#file = join(home, "muster.db");
    this.#db = new Sqlite(this.#file, { timeout: BUSY_MS });
  }

  /** Bytes of used pages, in the file or in the log. */
  usedBytes(): number {
    const read = (name: string) => Number(this.#db.pragma(name, { simple: true }));
    return (read("page_count") - read("freelist_count")) * read("page_size");
  }

  /** Bytes of the write-ahead log. */
  walBytes(): number {
    return statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Unfinished work by kind; empty when everything is at rest. */
  unsettled(): Map<string, number> {
    const open = {
      prompts: "state <> 'settled'",
      runs: "outcome is null",
      gates: "state = 'pending'",
      outbox: "state = 'pending'",
    };
    const found = new Map<string, number>();
    for (const [table, condition] of Object.entries(open)) {
      const count = `select count(*) as n from ${table} where ${condition}`;
      const n = this.#db.prepare<[], { n: number }>(count).get()?.n ?? 0;
      if (n > 0) found.set(table, n);
    }
    return found;
  }

  /** Ages sessions that ended at least this long ago, up to a limit; returns their ids. */
  ageEnded(endedForMs: number, limit: number): string[] {
    const before = Date.now() - endedForMs;
    const rows = this.#db
      .prepare<[number, number, number], { id: string }>(
        `update sessions set archived_at = archived_at - ? where id in (
           select id from sessions where archived_at < ? and archived_at > ?
           and kind in ('task', 'review') and run_state is null order by archived_at limit ${limit})
         returning id`,
      )
      .all(MONTH_MS, before, before - MONTH_MS / 2);
    return rows.map(({ id }) => id);
  }

  /** The sessions of this list that still exist. */
  existing(ids: readonly string[]): string[] {
    const find = this.#db.prepare<[string], { id: string }>("select id from sessions where id = ?");
    return ids.filter((id) => find.get(id) !== undefined);
  }

  /** Tables that still have rows of these sessions, with their counts. */
  leftovers(ids: readonly string[]): Map<string, number> {
    const left = new Map<string, number>();
    for (const table of this.#sessionTables()) {
      const count = this.#db.prepare<[string], { n: number }>(
        `select count(*) as n from "${table}" where session_id = ?`,
      );
      const sum = ids.reduce((total, id) => total + (count.get(id)?.n ?? 0), 0);
      if (sum > 0) left.set(table, sum);
    }
    return left;
  }

  close(): void {
    this.#db.close();
  }

  #sessionTables(): string[] {
    const tables = this.#db
      .prepare<[], { name: string }>(
        `select m.name from sqlite_master m join pragma_table_info(m.name) c
         where m.type = 'table' and c.name = 'session_id'`,
      )
      .all();
    return tables.map(({ name }) => name).filter((name) => !KEPT_TABLES.test(name));
  }
}
