/**
 * The store: what the rest of the program sees of SQLite or PostgreSQL.
 *
 * Kysely builds and types the statements; the store compiles each once and executes it. The store,
 * not Kysely, owns connections and transactions, because durability is decided here:
 * - `transaction` resolves only when its writes would survive a power loss.
 * - `read` resolves only when everything it saw would.
 * So whatever a caller sends out after either of them can never be taken back.
 */
import type { CompiledStatement, Dialect, Statement } from "./statement.ts";

export interface Reader {
  readonly dialect: Dialect;
  all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>;
  first<P, R>(statement: Statement<P, R>, params: P): Promise<R | undefined>;
  /** For statements whose shape depends on the request, such as filtered lists. */
  query<R>(compiled: CompiledStatement<R>): Promise<R[]>;
}

export interface Tx extends Reader {
  /** The instant of this transaction: the database's own clock where several servers share it. */
  readonly now: number;
  /** Returns how many rows were changed. */
  run<P>(statement: Statement<P, unknown>, params: P): Promise<number>;
  execute(compiled: CompiledStatement<unknown>): Promise<number>;
  /**
   * Gives at most `pages` free pages of the file back to the disk, when there are more of them than new
   * rows will soon need; returns how many (SQLite only).
   */
  shrink?(pages: number): Promise<number>;
  /**
   * Reads after the commit and before the transaction resolves, while the disk syncs: for what is to
   * be told together with the result. What it has read must be told to nobody earlier. It is not run
   * when the transaction fails, and one that throws is reported and undoes nothing.
   */
  whileSyncing(read: (reader: Reader) => Promise<void>): void;
  /** Runs after the transaction is durable; never when it fails. Must not throw. */
  afterCommit(announce: () => void): void;
}

/** The room that a database takes up. */
export interface StoreUse {
  databaseBytes: number;
  logBytes: number;
  reserveBytes: number;
  backups: { count: number; bytes: number };
  /** Of the disk it lies on; null when that is another machine's. */
  freeBytes: number | null;
}

export interface Store {
  readonly dialect: Dialect;
  /**
   * Runs `work` atomically. `work` may be run again from the start after a conflict, so it must
   * touch nothing but the transaction, and must not wait for anything but the transaction.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /**
   * A read that may take long: nobody else waits for it, and it is given up after `limitMs` with
   * `ReadTooSlow`. Its statements may see different moments. (SQLite in memory reads as usual.)
   */
  readAside<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T>;
  /** The schema as it must be before the first command. */
  migrate(migrations: readonly Migration[]): Promise<void>;
  /** Refuses while writes fail, or while the disk under the database is almost full. */
  checkWritable(): Promise<void>;
  use?(): Promise<StoreUse>;
  /** Looks after the space that is kept for the database; to be called every few seconds. */
  tend?(): Promise<void>;
  /** Writes a consistent copy to a file (SQLite only). */
  backup?(path: string): Promise<void>;
  /** After something was removed for good: its traces leave the files too, as far as can be (SQLite only). */
  scrub?(): Promise<void>;
  /** Shows the other servers of this database that this one lives, until it is closed (PostgreSQL only). */
  showLiveness?(serverId: string): Promise<void>;
  close(): Promise<void>;
}

/** It took longer than it was given. */
export class ReadTooSlow extends Error {
  override readonly name: string = "ReadTooSlow";
}

/** Others' long reads have taken every hand there is; this one was not begun. */
export class ReadersBusy extends ReadTooSlow {
  override readonly name = "ReadersBusy";
}

/** One step of the schema. Steps are only ever added, run in order, each in one transaction. */
export interface Migration {
  id: string;
  statements(dialect: Dialect): string[];
}
