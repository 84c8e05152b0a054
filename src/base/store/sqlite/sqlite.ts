/**
 * SQLite: one writer connection, one reader connection, write-ahead log, group commit.
 *
 * Commands that arrive while the writer is busy are run one after another inside the next
 * transaction, each in its own savepoint, so a burst shares one commit and one sync. A command that
 * fails is undone alone. `work` functions wait for nothing but statements, which are synchronous
 * underneath, so a batch runs to its end without the event loop turning.
 */
import { closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { acquireFileLock, type FileLock } from "../../machine/file-lock.ts";
import { createPrivateFile, ensurePrivateFile } from "../../machine/private-files.ts";
import { Refusal } from "../../refusal.ts";
import { announceAll, type LateRead, readAll } from "../after-commit.ts";
import { applyMigrations } from "../migrate.ts";
import type { Migration, Reader, Store, StoreUse, Tx } from "../store.ts";
import { PROBE, WriteHealth } from "../write-health.ts";
import { Connection, READER_PRAGMAS, SqliteTx } from "./connection.ts";
import { convertToIncremental } from "./convert.ts";
import { DiskReserve } from "./disk-reserve.ts";
import { readDiskUse } from "./disk-use.ts";
import { emptyLog } from "./empty-log.ts";
import { createOutputGate, type OutputGate, openGate } from "./output-gate.ts";
import { ReaderThread } from "./reader-thread.ts";
import { asRefusal, closed, isDiskFull } from "./refusals.ts";

const MAX_BATCH = 64;
/** A batch that has run for this long is committed; the rest of it goes into the next one. */
const BATCH_MS = 10;
const BUSY_RETRY_MS = 20;
/** Time that a command waits for a foreign process that holds the file, before it is refused. */
const BUSY_LIMIT_MS = 12_000;
const CHECKPOINT_PAGES = 2_000;
/** Size that the log is truncated to after a checkpoint. */
const MAX_IDLE_LOG_BYTES = 32 * 1024 * 1024;

export interface SqliteOptions {
  /** A file path, or `:memory:`. */
  path: string;
  clock: Clock;
  log: Log;
  /** Called when the log could not be synced. Must end the process. */
  onSyncFailure: (error: unknown) => void;
  /** Space to reserve for when the disk is full; none by default. */
  reserveBytes?: number;
  /** Only the power-loss suite opens the gate, to prove that the suite would notice. */
  gate?: "closed" | "left_open";
}

interface Job {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface JobOutcome {
  job: Job;
  result?: unknown;
  error?: unknown;
  announcements: (() => void)[];
  reads?: LateRead[];
}

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path, clock } = options;
  const inMemory = path === ":memory:";
  const { reserveBytes = 0 } = options;
  const reserve =
    inMemory || reserveBytes === 0
      ? undefined
      : new DiskReserve({ path: `${path}.reserve`, bytes: reserveBytes });
  let lock: FileLock | undefined;
  if (!inMemory) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    reserve?.releaseIfFull();
    // SQLite gives its log the same mode as the database, so this covers both.
    ensurePrivateFile(path);
    closeSync(openSync(path, "a", 0o600));
    lock = await acquireFileLock(`${path}.lock`).catch((error: unknown) => {
      throw new Refusal(
        "conflict",
        "database_in_use",
        `Another Muster server is using ${path}. Stop it, or set MUSTER_HOME to another folder.`,
        { cause: error },
      );
    });
  }
  try {
    if (!inMemory) convertToIncremental(path, options.log);
  } catch (error) {
    lock?.release();
    throw error;
  }
  const writer = connect(path, false);
  const gate =
    inMemory || options.gate === "left_open"
      ? openGate
      : await fileGate(path, options.onSyncFailure);
  const reader = inMemory ? undefined : connect(path, true);
  return new SqliteStore({ path, clock, writer, reader, gate, lock, reserve });
}

function connect(path: string, readonly: boolean): Database.Database {
  const db = new Database(path, { readonly, timeout: 0 });
  if (!readonly) {
    // Applies to a new file only; an older one was converted before.
    db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    // The log shrinks again after a long read or a large change.
    db.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    // Deleted data is overwritten. The cost is not measurable.
    db.pragma("secure_delete = ON");
    // The first write creates the log file that the gate syncs.
    db.exec(
      "create table if not exists schema_migrations (id text primary key, applied_at integer not null)",
    );
  }
  for (const pragma of READER_PRAGMAS) db.pragma(pragma);
  return db;
}

async function fileGate(path: string, onFailure: (error: unknown) => void): Promise<OutputGate> {
  const log = await open(`${path}-wal`, existsSync(`${path}-wal`) ? "r+" : "a+");
  const gate = createOutputGate(() => log.datasync(), onFailure);
  return {
    ...gate,
    async close() {
      await gate.close();
      await log.close();
    },
  };
}

interface StoreParts {
  path: string;
  clock: Clock;
  writer: Database.Database;
  reader: Database.Database | undefined;
  gate: OutputGate;
  lock: FileLock | undefined;
  reserve: DiskReserve | undefined;
}

class SqliteStore implements Store {
  readonly dialect = "sqlite";
  #parts: StoreParts;
  #write: Connection;
  #read: Connection | undefined;
  readonly #thread: ReaderThread;
  readonly #health = new WriteHealth();
  #queue: Job[] = [];
  #pumping = false;
  #closing = false;
  /**
   * Defers work until everything that has arrived was read, so that commands of the same moment
   * share a transaction. In memory there is no sync to share, and tests rely on nothing running in
   * between.
   */
  readonly #soon: (act: () => void) => void;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#soon = parts.reader ? setImmediate : queueMicrotask;
    this.#write = new Connection(parts.writer);
    this.#read = parts.reader && new Connection(parts.reader);
    this.#thread = new ReaderThread(parts.path);
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#pumping) {
        this.#pumping = true;
        this.#soon(() => void this.#pump());
      }
    });
  }

  async read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const reader = this.#read;
    // In memory there is one connection, so a read takes its turn among the writes.
    if (!reader) return this.transaction(work);
    return this.#covered(await retryBusy(this.#parts.clock, () => work(reader)));
  }

  async readAside<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T> {
    if (!this.#read) return this.read(work);
    return this.#covered(await this.#thread.read(limitMs, work));
  }

  /** Holds back a result that a power loss could still undo. */
  async #covered<T>(result: T): Promise<T> {
    const covered = this.#parts.gate.covered();
    if (covered !== undefined) await covered;
    return result;
  }

  async migrate(migrations: readonly Migration[]): Promise<void> {
    const { writer, path, clock } = this.#parts;
    await applyMigrations(migrations, {
      dialect: "sqlite",
      applied: async () =>
        writer.prepare("select id from schema_migrations").pluck().all() as string[],
      beforeFirst: async (next, hasData) => {
        if (hasData && path !== ":memory:") await this.backup(`${path}.before-${next}.bak`);
      },
      apply: async (migration) => {
        writer.transaction(() => {
          for (const statement of migration.statements("sqlite")) writer.exec(statement);
          writer
            .prepare("insert into schema_migrations (id, applied_at) values (?, ?)")
            .run(migration.id, clock.now());
        })();
      },
    });
    this.#parts.gate.committed();
    await this.#parts.gate.covered();
  }

  async backup(path: string): Promise<void> {
    // An incomplete copy must not look like a finished one.
    const unfinished = `${path}.part`;
    createPrivateFile(unfinished);
    this.#parts.writer.prepare("vacuum into ?").run(unfinished);
    const copy = await open(unfinished, "r");
    await copy.sync();
    await copy.close();
    // An older copy of this name is from an earlier attempt; the data about to be migrated is
    // newer.
    renameSync(unfinished, path);
  }

  async scrub(): Promise<void> {
    const { writer, clock } = this.#parts;
    await emptyLog(writer, clock, () => this.#closing);
  }

  async close(): Promise<void> {
    const { gate, reader, writer, lock } = this.#parts;
    this.#closing = true;
    while (this.#pumping) await new Promise((resolve) => setImmediate(resolve));
    await gate.covered();
    await gate.close();
    await this.#thread.close();
    reader?.close();
    writer.close();
    lock?.release();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_BATCH);
      const done = await this.#withReserve(await this.#runBatch(batch));
      void this.#release(done);
      // A long queue must not block the event loop.
      if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#soon(resolve));
    }
    this.#pumping = false;
  }

  /** On a full disk, deletes the reserve and runs what did not fit once more. */
  async #withReserve(done: JobOutcome[]): Promise<JobOutcome[]> {
    const unfit = done.filter(({ error }) => isDiskFull(error));
    if (unfit.length === 0 || !this.#parts.reserve?.release()) return done;
    const again = await this.#runBatch(unfit.map(({ job }) => job));
    return [...done.filter((one) => !unfit.includes(one)), ...again];
  }

  async checkWritable(): Promise<void> {
    await this.#tryWrite();
    this.#parts.reserve?.require();
  }

  async tend(): Promise<void> {
    await this.#tryWrite();
    await this.#parts.reserve?.tend();
  }

  async use(): Promise<StoreUse> {
    const { path } = this.#parts;
    if (path !== ":memory:") return readDiskUse(path);
    const backups = { count: 0, bytes: 0 };
    return { databaseBytes: 0, logBytes: 0, reserveBytes: 0, backups, freeBytes: null };
  }

  #tryWrite(): Promise<void> {
    return this.#health.check(() => this.transaction((tx) => tx.execute(PROBE)));
  }

  async #release(done: JobOutcome[]): Promise<void> {
    const covered = this.#parts.gate.covered();
    if (covered !== undefined) await covered;
    for (const { job, result, error, announcements } of done) {
      if (error !== undefined) {
        this.#health.note(error);
        job.reject(error);
        continue;
      }
      job.resolve(result);
      announceAll(announcements);
    }
  }

  async #runBatch(batch: Job[]): Promise<JobOutcome[]> {
    const { writer, clock, gate } = this.#parts;
    try {
      await retryBusy(clock, async () => this.#write.exec("begin immediate"));
    } catch (error) {
      return batch.map((job) => ({ job, error: asRefusal(error), announcements: [] }));
    }
    const done: JobOutcome[] = [];
    const since = performance.now();
    for (const job of batch) {
      if (done.length > 0 && this.#read && performance.now() - since > BATCH_MS) {
        this.#queue.unshift(...batch.splice(done.length));
        break;
      }
      const outcome = await this.#runJob(job, batch.length === 1);
      if (!writer.inTransaction) return this.#rerunAlone(batch, done, outcome);
      done.push(outcome);
    }
    try {
      this.#write.exec("commit");
      if (this.#write.takeChanged()) gate.committed();
    } catch (error) {
      if (writer.inTransaction) this.#write.exec("rollback");
      return batch.map((job) => ({ job, error: asRefusal(error), announcements: [] }));
    }
    await this.#readMeanwhile(done.flatMap(({ reads = [] }) => reads));
    return done;
  }

  /** Runs late reads before the next transaction, on the connection that has the pages cached. */
  async #readMeanwhile(reads: readonly LateRead[]): Promise<void> {
    if (reads.length === 0) return;
    // Starts the sync; releasing the batch waits for its end.
    void this.#parts.gate.covered();
    await readAll(this.#write, reads);
  }

  /**
   * Runs the other jobs again, each alone, after SQLite rolled back the whole batch (disk full, I/O
   * error).
   */
  async #rerunAlone(
    batch: Job[],
    before: JobOutcome[],
    culprit: JobOutcome,
  ): Promise<JobOutcome[]> {
    const done: JobOutcome[] = [culprit];
    const after = batch.slice(before.length + 1);
    for (const job of [...before.map((d) => d.job), ...after]) {
      done.push(...(batch.length === 1 ? [] : await this.#runBatch([job])));
    }
    return done;
  }

  /**
   * A job that is alone in its batch needs no savepoint: if it fails, the whole transaction is
   * rolled back.
   */
  async #runJob(job: Job, isAlone: boolean): Promise<JobOutcome> {
    const announcements: (() => void)[] = [];
    const reads: LateRead[] = [];
    const tx = new SqliteTx(this.#write, this.#parts.clock.now(), announcements, reads);
    if (!isAlone) this.#write.exec("savepoint job");
    try {
      const result = await job.work(tx);
      if (!isAlone) this.#write.exec("release job");
      return { job, result, announcements, reads };
    } catch (error) {
      if (this.#parts.writer.inTransaction && isAlone) this.#write.exec("rollback");
      else if (this.#parts.writer.inTransaction) {
        this.#write.exec("rollback to job");
        this.#write.exec("release job");
      }
      return { job, error: asRefusal(error), announcements: [] };
    }
  }
}

async function retryBusy<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const busy = String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
      if (!busy || clock.now() >= deadline) throw asRefusal(error);
      await clock.sleep(BUSY_RETRY_MS);
    }
  }
}
