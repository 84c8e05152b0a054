/**
 * Long reads of SQLite, in a thread with its own connection, so that the event loop never waits for
 * them. The first read starts the thread; it ends when it has been idle for a while. SQLite cannot
 * be stopped in the middle of a statement, so a slow statement is abandoned together with its
 * thread, and later reads get a new one.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { type CompiledStatement, type Statement, storableParameters } from "../statement.ts";
import { type Reader, ReadersBusy, ReadTooSlow } from "../store.ts";
import { READER_PRAGMAS } from "./connection.ts";
import { asRefusal, closed, unreadable } from "./refusals.ts";

const IDLE_MS = 60_000;
/** Limit of abandoned threads that still work; more would only take CPU time. */
const MAX_GIVEN_UP = 2;

interface ThreadQuery {
  sql: string;
  parameters: readonly unknown[];
}

interface ThreadResult {
  rows?: unknown[];
  problem?: { code: string; message: string };
}

/** One call of `read`, which may run several queries. */
interface ReadCall {
  limitMs: number;
  isOver: boolean;
}

interface PendingQuery {
  call: ReadCall;
  query: ThreadQuery;
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

export class ReaderThread {
  readonly #path: string;
  /** Queries that were not sent yet: the thread gets one at a time. */
  #queue: PendingQuery[] = [];
  #current: PendingQuery | undefined;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  #givenUp = 0;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async read<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#givenUp >= MAX_GIVEN_UP) throw new ReadersBusy();
    const call: ReadCall = { limitMs, isOver: false };
    const { promise: tooSlow, reject } = Promise.withResolvers<never>();
    const limit = setTimeout(() => {
      call.isOver = true;
      // Its waiting queries are dropped, and the result of a running one is ignored.
      this.#queue = this.#queue.filter((pending) => pending.call !== call);
      reject(new ReadTooSlow());
    }, limitMs);
    // The rejection may come after the read has been answered.
    tooSlow.catch(() => {});
    try {
      return await Promise.race([work(this.#reader(call)), tooSlow]);
    } finally {
      clearTimeout(limit);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#detachWorker();
    this.#refuseAll(closed());
    await worker?.terminate();
  }

  #reader(call: ReadCall): Reader {
    const query = <R>({ sql, parameters }: CompiledStatement<R>) =>
      this.#enqueue(call, { sql, parameters: storableParameters(parameters) }) as Promise<R[]>;
    const all = <P, R>(statement: Statement<P, R>, params: P) =>
      query(statement.bind("sqlite", params));
    return {
      dialect: "sqlite",
      query,
      all,
      first: async (statement, params) => (await all(statement, params))[0],
    };
  }

  #enqueue(call: ReadCall, query: ThreadQuery): Promise<unknown[]> {
    if (this.#isClosed) return Promise.reject(closed());
    if (call.isOver) return Promise.reject(new ReadTooSlow());
    return new Promise((resolve, reject) => {
      this.#queue.push({ call, query, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current) return;
    this.#current = this.#queue.shift();
    if (!this.#current) return;
    try {
      this.#worker ??= this.#startWorker();
      this.#idle?.refresh();
      this.#worker.postMessage(this.#current.query);
      this.#limit = setTimeout(() => this.#giveUp(), this.#current.call.limitMs);
    } catch (error) {
      // No thread can be started, so nobody may wait for it.
      this.#rejectCurrent(error);
    }
  }

  #rejectCurrent(error: unknown): void {
    this.#current?.reject(unreadable(error));
    this.#current = undefined;
    this.#next();
  }

  #startWorker(): Worker {
    const databasePath = createRequire(import.meta.url).resolve("better-sqlite3");
    const worker = new Worker(`(${runInThread.toString()})()`, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { databasePath, path: this.#path, pragmas: READER_PRAGMAS },
    });
    // The thread must not keep the process alive.
    worker.unref();
    worker.on("message", (answer: ThreadResult) => this.#settle(worker, answer));
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", (code) =>
      this.#fail(worker, new Error(`the reader's thread ended (${code})`)),
    );
    this.#idle = setTimeout(() => this.#stopIdleWorker(), IDLE_MS).unref();
    return worker;
  }

  #settle(worker: Worker, { rows = [], problem }: ThreadResult): void {
    // Results of an abandoned thread are ignored.
    if (this.#worker !== worker) return;
    clearTimeout(this.#limit);
    const current = this.#current;
    this.#current = undefined;
    if (!problem) current?.resolve(rows);
    else current?.reject(asRefusal(Object.assign(new Error(problem.message), problem)));
    this.#next();
  }

  /** Rejects the current query; a new thread runs the others. */
  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#detachWorker();
    this.#rejectCurrent(error);
  }

  /** Abandons a thread that has used up its time limit; queries behind it must not wait longer. */
  #giveUp(): void {
    const worker = this.#detachWorker();
    this.#current?.reject(new ReadTooSlow());
    this.#current = undefined;
    this.#givenUp += 1;
    void worker?.terminate().finally(() => {
      this.#givenUp -= 1;
    });
    if (this.#givenUp >= MAX_GIVEN_UP) this.#refuseAll(new ReadTooSlow());
    else this.#next();
  }

  #refuseAll(error: Error): void {
    const waiting = [...(this.#current ? [this.#current] : []), ...this.#queue];
    this.#current = undefined;
    this.#queue = [];
    for (const { reject } of waiting) reject(error);
  }

  #stopIdleWorker(): void {
    if (this.#current) this.#idle?.refresh();
    else void this.#detachWorker()?.terminate();
  }

  #detachWorker(): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    clearTimeout(this.#limit);
    return worker;
  }
}

/** Runs in the thread from its source text, so it must not use anything from this module. */
function runInThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  // Not a plain `require` or `import`: bundlers would replace it.
  const load = process.getBuiltinModule("node:module").createRequire(workerData.databasePath);
  const Database = load(workerData.databasePath) as typeof import("better-sqlite3");
  const database = new Database(workerData.path, { readonly: true, timeout: 1_000 });
  for (const pragma of workerData.pragmas as string[]) database.pragma(pragma);
  const prepared = new Map<string, import("better-sqlite3").Statement>();
  const answer = ({ sql, parameters }: ThreadQuery): ThreadResult => {
    try {
      let statement = prepared.get(sql);
      if (!statement) {
        // Searches produce many statements, so the cache is limited.
        if (prepared.size >= 200) prepared.clear();
        statement = database.prepare(sql);
        prepared.set(sql, statement);
      }
      return { rows: statement.all(...parameters) };
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string };
      return { problem: { code: String(code), message } };
    }
  };
  parentPort?.on("message", (query: ThreadQuery) => parentPort.postMessage(answer(query)));
}
