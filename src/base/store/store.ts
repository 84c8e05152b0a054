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
  /** The instant of this transaction, from the database's clock where several servers share it. */
  readonly now: number;
  /** Returns how many rows were changed. */
  run<P>(statement: Statement<P, unknown>, params: P): Promise<number>;
  execute(compiled: CompiledStatement<unknown>): Promise<number>;
  /**
   * Returns up to `pages` free pages of the file to the disk, if there are more than new rows will
   * soon need. Returns their number (SQLite only).
   */
  shrink?(pages: number): Promise<number>;
  /**
   * Reads after the commit and before the transaction resolves, while the disk syncs, for data that
   * is sent together with the result. It must not be sent to anybody earlier. The read is skipped
   * if the transaction fails; one that throws is reported and undoes nothing.
   */
  whileSyncing(read: (reader: Reader) => Promise<void>): void;
  /** Runs after the transaction is durable, and never if it fails. Must not throw. */
  afterCommit(announce: () => void): void;
}

/** Disk space of a database. */
export interface StoreUse {
  databaseBytes: number;
  logBytes: number;
  reserveBytes: number;
  backups: { count: number; bytes: number };
  /** Free space of its disk; null if that is on another machine. */
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
   * A read that may take long: nobody else waits for it, and it is rejected with `ReadTooSlow`
   * after `limitMs`. Its statements may see different states of the database. (SQLite in memory
   * reads as usual.)
   */
  readAside<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Migrates the schema; must be called before the first command. */
  migrate(migrations: readonly Migration[]): Promise<void>;
  /** Refuses while writes fail, or while the disk under the database is almost full. */
  checkWritable(): Promise<void>;
  use?(): Promise<StoreUse>;
  /** Maintains the reserved space; to be called every few seconds. */
  tend?(): Promise<void>;
  /** Writes a consistent copy to a file (SQLite only). */
  backup?(path: string): Promise<void>;
  /** Removes the traces of deleted data from the files, as far as possible (SQLite only). */
  scrub?(): Promise<void>;
  /**
   * Shows the other servers of this database that this one is alive, until it is closed (PostgreSQL
   * only).
   */
  showLiveness?(serverId: string): Promise<void>;
  close(): Promise<void>;
}

/** The read exceeded its time limit. */
export class ReadTooSlow extends Error {
  override readonly name: string = "ReadTooSlow";
}

/** All readers are busy with long reads; this one was not started. */
export class ReadersBusy extends ReadTooSlow {
  override readonly name = "ReadersBusy";
}

/** One step of the schema. Steps are only ever added and run in order, each in one transaction. */
export interface Migration {
  id: string;
  statements(dialect: Dialect): string[];
}
