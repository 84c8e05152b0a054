/**
 * PostgreSQL: a connection pool, one transaction per command, commands locked by their session's
 * row.
 *
 * A transaction is run again after a serialisation failure, a deadlock or a lost connection. If the
 * connection is lost during COMMIT, nobody knows whether it took effect. So every transaction that
 * writes also writes its number into its connection's row of `commit_marks`; the row is read once
 * the connection is gone. (Transaction ids do not help: after a crash PostgreSQL reuses the ids of
 * transactions that left no trace.)
 */
import { createHash, randomInt } from "node:crypto";
import pg from "pg";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { Refusal } from "../../refusal.ts";
import { announceAll, type LateRead, readAll } from "../after-commit.ts";
import { applyMigrations } from "../migrate.ts";
import { type CompiledStatement, type Statement, storableParameters } from "../statement.ts";
import type { Migration, Reader, Store, StoreUse, Tx } from "../store.ts";
import { PROBE, WriteHealth } from "../write-health.ts";
import { MARKS_TABLE, MarkCleaner, writeMark } from "./commit-marks.ts";
import { LivenessLock } from "./liveness-lock.ts";
import { LongReads } from "./long-reads.ts";
import { diskFull, isDiskFull, unavailable, unknownFate } from "./refusals.ts";

const POOL_SIZE = 12;
const CONNECT_TIMEOUT_MS = 2_000;
const RETRY_LIMIT_MS = 15_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 400;
const MIGRATION_LOCK = 7_474_747;

interface Attempt<T> {
  result: T;
  announcements: (() => void)[];
}

/** The advisory lock of a connection, and the number of its transactions that have written. */
interface ConnectionMark {
  id: number;
  mark: number;
}

export interface PostgresOptions {
  url: string;
  clock: Clock;
  log: Log;
}

const RETRYABLE_SQLSTATE = /^(40001|40P01|08...|57P0[1-5]|53300|25006|55P03)$/;
const RETRYABLE_SYSTEM = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)/;
const RETRYABLE_TEXT =
  /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|not queryable/;

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const types = new pg.TypeOverrides();
  // Times and sums fit a double, and the rest of the program uses numbers only.
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.NUMERIC, Number);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "muster",
    types,
  });
  pool.on("error", (error) =>
    options.log.warn({ err: error }, "an idle database connection was lost"),
  );
  return new PostgresStore(pool, options);
}

class PostgresStore implements Store {
  readonly dialect = "postgres";
  #pool: pg.Pool;
  #clock: Clock;
  #log: Log;
  readonly #marks = new WeakMap<pg.PoolClient, ConnectionMark>();
  readonly #longReads = new LongReads();
  readonly #health = new WriteHealth();
  readonly #liveness: LivenessLock;
  readonly #markCleaner: MarkCleaner;

  constructor(pool: pg.Pool, { url, clock, log }: PostgresOptions) {
    this.#pool = pool;
    this.#liveness = new LivenessLock(url, log);
    this.#clock = clock;
    this.#log = log;
    this.#markCleaner = new MarkCleaner(() => clock.steady?.() ?? clock.now());
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const attempt = await this.#retrying(() => this.#attempt(work)).catch((error: unknown) => {
      const why = isDiskFull(error) ? diskFull(error) : error;
      this.#health.note(why);
      throw why;
    });
    announceAll(attempt.announcements);
    return attempt.result;
  }

  async use(): Promise<StoreUse> {
    const sql = "select pg_database_size(current_database())::bigint as bytes";
    const [row] = await this.read((reader) =>
      reader.query<{ bytes: number }>({ sql, parameters: [] }),
    );
    const backups = { count: 0, bytes: 0 };
    const databaseBytes = Number(row?.bytes ?? 0);
    return { databaseBytes, logBytes: 0, reserveBytes: 0, backups, freeBytes: null };
  }

  checkWritable(): Promise<void> {
    return this.#health.check(() => this.transaction((tx) => tx.execute(PROBE)));
  }

  read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#retrying(async () => {
      const client = await this.#pool.connect();
      const health = watchConnection(client);
      try {
        return await work(new PostgresReader(client));
      } catch (error) {
        health.note(error);
        throw error;
      } finally {
        client.release(health.isBroken());
      }
    });
  }

  readAside<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#longReads.read(limitMs, (timed) => this.read(timed), work);
  }

  async migrate(migrations: readonly Migration[]): Promise<void> {
    await this.#retrying(async () => {
      const client = await this.#pool.connect();
      try {
        await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
        await client.query(
          "create table if not exists schema_migrations (id text primary key, applied_at bigint not null)",
        );
        await client.query(MARKS_TABLE);
        await applyMigrations(migrations, migrationTarget(client, this.#clock));
        await client.query("select pg_advisory_unlock($1)", [MIGRATION_LOCK]);
      } finally {
        // The lock belongs to the connection, so ending it frees the lock in any case.
        client.release(true);
      }
    });
  }

  async showLiveness(serverId: string): Promise<void> {
    await this.#retrying(() => this.#liveness.hold(serverId));
  }

  async close(): Promise<void> {
    await this.#liveness.close();
    await this.#pool.end();
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>): Promise<Attempt<T>> {
    const client = await this.#pool.connect();
    const health = watchConnection(client);
    let attempt: Attempt<T>;
    let doubt: { connectionMark: ConnectionMark; error: unknown } | undefined;
    try {
      const connectionMark = await this.#markOf(client);
      const tx = new PostgresTx(client, await begin(client));
      const result = await work(tx).catch(async (error: unknown) => {
        await rollback(client, health);
        throw error;
      });
      attempt = { result, announcements: tx.announcements };
      try {
        await commit(client, tx.hasWritten ? connectionMark : undefined);
        await readAll(tx, tx.reads);
      } catch (error) {
        if (!isRetryable(error) || isConflict(error)) {
          await rollback(client, health);
          throw error;
        }
        health.note(error);
        doubt = { connectionMark, error };
      }
    } catch (error) {
      health.note(error);
      throw error;
    } finally {
      client.release(health.isBroken());
    }
    // After the connection was released: many commands may have lost theirs at once.
    if (doubt && !(await this.#isCommitted(doubt.connectionMark))) throw doubt.error;
    return attempt;
  }

  /**
   * Assigns the connection an id and takes an advisory lock on it, held for as long as the
   * connection lives.
   */
  async #markOf(client: pg.PoolClient): Promise<ConnectionMark> {
    let connectionMark = this.#marks.get(client);
    if (!connectionMark) {
      connectionMark = { id: randomInt(2 ** 47), mark: 0 };
      await client.query("select pg_advisory_lock($1)", [connectionMark.id]);
      this.#marks.set(client, connectionMark);
      this.#markCleaner.clearNowAndThen(this.#pool);
    }
    return connectionMark;
  }

  /** Finds out if the last transaction of a lost connection was committed. */
  #isCommitted({ id, mark }: ConnectionMark): Promise<boolean> {
    return this.#retrying(async () => {
      // The lock is free only when PostgreSQL has given the connection up.
      const { rows } = await this.#pool.query<{ gone: boolean }>(
        "select pg_try_advisory_xact_lock($1) as gone",
        [id],
      );
      if (!rows[0]?.gone) throw Object.assign(new Error("still committing"), { code: "57P03" });
      const marks = await this.#pool.query<{ mark: number }>(
        "select mark from commit_marks where id = $1",
        [id],
      );
      return marks.rows[0]?.mark === mark;
    }, unknownFate);
  }

  async #retrying<T>(work: () => Promise<T>, giveUp = unavailable): Promise<T> {
    const deadline = this.#clock.now() + RETRY_LIMIT_MS;
    let pauseMs = RETRY_FIRST_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        if (this.#clock.now() >= deadline) throw giveUp(error);
        this.#log.debug({ err: error }, "running a database command again");
        await this.#clock.sleep(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS);
      }
    }
  }
}

/** `connectionMark` is undefined if the transaction has written nothing. */
async function commit(
  client: pg.PoolClient,
  connectionMark: ConnectionMark | undefined,
): Promise<void> {
  if (!connectionMark) {
    await client.query("commit");
    return;
  }
  connectionMark.mark += 1;
  await client.query(`${writeMark(connectionMark.id, connectionMark.mark)}; commit`);
}

async function rollback(client: pg.PoolClient, health: ConnectionHealth): Promise<void> {
  await client.query("rollback").catch((cause: unknown) => health.note(cause));
}

/** Begins a transaction and returns its instant. */
async function begin(client: pg.PoolClient): Promise<number> {
  const results = (await client.query(
    "begin; select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now",
  )) as unknown as pg.QueryResult<{ now: number }>[];
  const [row] = results[1]?.rows ?? [];
  if (!row) throw new Error("PostgreSQL did not answer BEGIN");
  return row.now;
}

function migrationTarget(client: pg.PoolClient, clock: Clock) {
  return {
    dialect: "postgres" as const,
    applied: async () =>
      (await client.query<{ id: string }>("select id from schema_migrations")).rows.map(
        (row) => row.id,
      ),
    beforeFirst: async () => {},
    apply: async (migration: Migration) => {
      await client.query("begin");
      for (const statement of migration.statements("postgres")) await client.query(statement);
      await client.query("insert into schema_migrations (id, applied_at) values ($1, $2)", [
        migration.id,
        clock.now(),
      ]);
      await client.query("commit");
    },
  };
}

class PostgresReader implements Reader {
  readonly dialect = "postgres";
  protected readonly client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return (await this.send(statement.bind("postgres", params), true)).rows as R[];
  }
  async first<P, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return (await this.all(statement, params))[0];
  }
  async query<R>(compiled: CompiledStatement<R>): Promise<R[]> {
    return (await this.send(compiled, false)).rows as R[];
  }

  /** Named statements are parsed and planned once per connection. */
  protected send(
    { sql, parameters }: CompiledStatement<unknown>,
    keep: boolean,
  ): Promise<pg.QueryResult> {
    const values = storableParameters(parameters) as unknown[];
    return keep
      ? this.client.query({ name: statementName(sql), text: sql, values })
      : this.client.query(sql, values);
  }
}

class PostgresTx extends PostgresReader implements Tx {
  readonly now: number;
  readonly announcements: (() => void)[] = [];
  readonly reads: LateRead[] = [];
  hasWritten = false;

  constructor(client: pg.PoolClient, now: number) {
    super(client);
    this.now = now;
  }

  async run<P>(statement: Statement<P, unknown>, params: P): Promise<number> {
    this.hasWritten = true;
    return (await this.send(statement.bind("postgres", params), true)).rowCount ?? 0;
  }
  async execute(compiled: CompiledStatement<unknown>): Promise<number> {
    this.hasWritten = true;
    return (await this.send(compiled, true)).rowCount ?? 0;
  }
  whileSyncing(read: LateRead): void {
    this.reads.push(read);
  }
  afterCommit(announce: () => void): void {
    this.announcements.push(announce);
  }
}

const names = new Map<string, string>();

function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = createHash("sha256").update(sql).digest("base64url").slice(0, 24);
    names.set(sql, name);
  }
  return name;
}

interface ConnectionHealth {
  note(error: unknown): void;
  isBroken(): boolean;
}

/** Tracks if a connection may go back to the pool. */
function watchConnection(client: pg.PoolClient): ConnectionHealth {
  let broken = false;
  const onError = () => {
    broken = true;
  };
  client.once("error", onError);
  return {
    note(error) {
      if (isRetryable(error) && !isConflict(error)) broken = true;
    },
    isBroken() {
      client.off("error", onError);
      return broken;
    },
  };
}

function isConflict(error: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(String((error as { code?: unknown } | undefined)?.code));
}

function isRetryable(error: unknown): boolean {
  if (error instanceof Refusal || !(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? "");
  return (
    RETRYABLE_SQLSTATE.test(code) ||
    RETRYABLE_SYSTEM.test(code) ||
    RETRYABLE_TEXT.test(error.message)
  );
}
