/**
 * Long reads of SQLite, in a thread with a connection of its own: the event loop never waits for
 * them. The thread is begun by the first read and ends when there was none for a while. SQLite cannot
 * be told to stop in the middle of a statement, so a read that takes too long is given up together
 * with its thread, and the next one gets another.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { READER_PRAGMAS } from "./sqlite-pragmas.ts";
import { asRefusal } from "./sqlite-refusals.ts";
import type { CompiledStatement, Statement } from "./statement.ts";
import { type Reader, ReadTooSlow } from "./store.ts";

const IDLE_MS = 60_000;
/** Threads that were given up and still work; more of them would only take the machine's time. */
const MAX_GIVEN_UP = 2;

interface Question {
  number: number;
  sql: string;
  parameters: readonly unknown[];
}

interface Answer {
  number: number;
  rows?: unknown[];
  problem?: { code: string; message: string };
}

interface Waiting {
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

export class ReaderThread {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #givenUp = 0;
  #last = 0;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async read<T>(limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#givenUp >= MAX_GIVEN_UP) throw new ReadTooSlow();
    const { promise: tooSlow, reject } = Promise.withResolvers<never>();
    const limit = setTimeout(() => {
      reject(new ReadTooSlow());
      this.#giveUp();
    }, limitMs);
    // Every read may outlive its limit, and one that does has been answered.
    tooSlow.catch(() => {});
    try {
      return await Promise.race([work(this.#reader()), tooSlow]);
    } finally {
      clearTimeout(limit);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  #reader(): Reader {
    const query = <R>({ sql, parameters }: CompiledStatement<R>) =>
      this.#ask({ number: ++this.#last, sql, parameters }) as Promise<R[]>;
    const all = <P, R>(statement: Statement<P, R>, params: P) =>
      query(statement.bind("sqlite", params));
    return {
      dialect: "sqlite",
      query,
      all,
      first: async (statement, params) => (await all(statement, params))[0],
    };
  }

  #ask(question: Question): Promise<unknown[]> {
    if (this.#isClosed) return Promise.reject(new Error("the store is closed"));
    this.#worker ??= this.#begin();
    this.#idle?.refresh();
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.number, { resolve, reject });
      this.#worker?.postMessage(question);
    });
  }

  #begin(): Worker {
    const databasePath = createRequire(import.meta.url).resolve("better-sqlite3");
    const worker = new Worker(`(${answerInThread.toString()})()`, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { databasePath, path: this.#path, pragmas: READER_PRAGMAS },
    });
    // It must not keep a program alive that has nothing else to do.
    worker.unref();
    worker.on("message", (answer: Answer) => this.#settle(answer));
    worker.on("error", (error) => this.#fail(worker, error as Error));
    worker.on("exit", () => this.#fail(worker, new Error("the reader's thread ended")));
    this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
    return worker;
  }

  #settle({ number, rows = [], problem }: Answer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (!problem) waiting?.resolve(rows);
    else waiting?.reject(asRefusal(Object.assign(new Error(problem.message), problem)));
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#refuseAll(error);
  }

  #refuseAll(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  #giveUp(): void {
    const worker = this.#take();
    if (!worker) return;
    this.#givenUp += 1;
    this.#refuseAll(new ReadTooSlow());
    void worker.terminate().finally(() => {
      this.#givenUp -= 1;
    });
  }

  async #end(): Promise<void> {
    if (this.#waiting.size > 0 && !this.#isClosed) {
      this.#idle?.refresh();
      return;
    }
    const worker = this.#take();
    this.#refuseAll(new Error("the store is closed"));
    await worker?.terminate();
  }

  #take(): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    return worker;
  }
}

/** Runs in the thread from its source text: it may use nothing from around it. */
function answerInThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  // No plain `require` or `import`: bundlers would put names of theirs in its place.
  const load = process.getBuiltinModule("node:module").createRequire(workerData.databasePath);
  const Database = load(workerData.databasePath) as typeof import("better-sqlite3");
  const database = new Database(workerData.path, { readonly: true, timeout: 1_000 });
  for (const pragma of workerData.pragmas as string[]) database.pragma(pragma);
  const prepared = new Map<string, import("better-sqlite3").Statement>();
  const answer = ({ number, sql, parameters }: Question): Answer => {
    try {
      let statement = prepared.get(sql);
      if (!statement) {
        // Statements of searches are many; what is kept of them must not be.
        if (prepared.size >= 200) prepared.clear();
        statement = database.prepare(sql);
        prepared.set(sql, statement);
      }
      return { number, rows: statement.all(...parameters) };
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string };
      return { number, problem: { code: String(code), message } };
    }
  };
  parentPort?.on("message", (question: Question) => parentPort.postMessage(answer(question)));
}
