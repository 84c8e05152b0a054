/** Connections to SQLite: statements inside and outside of a transaction. */
import type Database from "better-sqlite3";
import type { LateRead } from "../after-commit.ts";
import { type CompiledStatement, type Statement, storableParameters } from "../statement.ts";
import type { Reader, Tx } from "../store.ts";

/** Free pages that stay in the file for new rows, since it would only have to grow again. */
const MIN_SPARE_PAGES = 1_000;
const SPARE_SHARE = 0.05;
const INCREMENTAL = 2;

/** Settings of every connection to SQLite, in either thread. */
export const READER_PRAGMAS = ["temp_store = MEMORY", "cache_size = -16000"] as const;

/** A connection with its cache of prepared statements. */
export class Connection implements Reader {
  readonly dialect = "sqlite";
  #db: Database.Database;
  #prepared = new Map<string, Database.Statement>();
  #changed = false;

  constructor(db: Database.Database) {
    this.#db = db;
  }

  exec(sql: string): void {
    this.#prepare(sql).run();
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return this.query(statement.bind("sqlite", params));
  }

  async first<P, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const { sql, parameters } = statement.bind("sqlite", params);
    return this.#prepare(sql).get(...storableParameters(parameters)) as R | undefined;
  }

  async query<R>({ sql, parameters }: CompiledStatement<R>): Promise<R[]> {
    return this.#prepare(sql).all(...storableParameters(parameters)) as R[];
  }

  change({ sql, parameters }: CompiledStatement<unknown>): number {
    this.#changed = true;
    return this.#prepare(sql).run(...storableParameters(parameters)).changes;
  }

  /** Moves the last pages of the file into free ones and cuts the file, `pages` at most. */
  shrink(pages: number): number {
    const pragma = (text: string) => Number(this.#db.pragma(text, { simple: true }));
    // Without incremental vacuum, pages are never given back one by one; see
    // `convertToIncremental`.
    if (pragma("auto_vacuum") !== INCREMENTAL) return 0;
    const free = pragma("freelist_count");
    const spare = Math.max(MIN_SPARE_PAGES, Math.floor(pragma("page_count") * SPARE_SHARE));
    const some = Math.min(pages, free - spare);
    if (some <= 0) return 0;
    this.#changed = true;
    this.#db.pragma(`incremental_vacuum(${some})`);
    return some;
  }

  /**
   * True if anything was written since the last call; a batch that wrote nothing needs no sync.
   */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  #prepare(sql: string): Database.Statement {
    let prepared = this.#prepared.get(sql);
    if (!prepared) {
      prepared = this.#db.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

export class SqliteTx implements Tx {
  readonly dialect = "sqlite";
  readonly now: number;
  #connection: Connection;
  #announcements: (() => void)[];
  #reads: LateRead[];

  constructor(
    connection: Connection,
    now: number,
    announcements: (() => void)[],
    reads: LateRead[],
  ) {
    this.#connection = connection;
    this.now = now;
    this.#announcements = announcements;
    this.#reads = reads;
  }

  all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return this.#connection.all(statement, params);
  }
  first<P, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return this.#connection.first(statement, params);
  }
  query<R>(compiled: CompiledStatement<R>): Promise<R[]> {
    return this.#connection.query(compiled);
  }
  async run<P>(statement: Statement<P, unknown>, params: P): Promise<number> {
    return this.#connection.change(statement.bind("sqlite", params));
  }
  async execute(compiled: CompiledStatement<unknown>): Promise<number> {
    return this.#connection.change(compiled);
  }
  async shrink(pages: number): Promise<number> {
    return this.#connection.shrink(pages);
  }
  whileSyncing(read: LateRead): void {
    this.#reads.push(read);
  }
  afterCommit(announce: () => void): void {
    this.#announcements.push(announce);
  }
}
