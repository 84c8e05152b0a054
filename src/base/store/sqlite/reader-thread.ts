/**
 * Long reads of SQLite, in a thread with a connection of its own: the event loop never waits for
 * them. The thread is begun by the first read and ends when there was none for a while. SQLite cannot
 * be told to stop in the middle of a statement, so one that takes too long is given up together with
 * its thread, and what comes after it gets another.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { type CompiledStatement, type Statement, storableParameters } from "../statement.ts";
import { type Reader, ReadersBusy, ReadTooSlow } from "../store.ts";
import { READER_PRAGMAS } from "./connection.ts";
import { asRefusal, closed, unreadable } from "./refusals.ts";

const IDLE_MS = 60_000;
/** Threads that were given up and still work; more of them would only take the machine's time. */
const MAX_GIVEN_UP = 2;

interface Question {
  sql: string;
  parameters: readonly unknown[];
}

interface Answer {
  rows?: unknown[];
  problem?: { code: string; message: string };
}

/** One `read`, which may ask several questions. */
interface Asker {
  limitMs: number;
  isOver: boolean;
}

interface Asked {
  asker: Asker;
  question: Question;
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

export class ReaderThread {
  readonly #path: string;
  /** What the thread was not told yet: it gets one question at a time. */
  #line: Asked[] = [];
  #current: Asked | undefined;
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
    const asker: Asker = { limitMs, isOver: false };
    const { promise: tooSlow, reject } = Promise.withResolvers<never>();
    const limit = setTimeout(() => {
      asker.isOver = true;
      // What it still waits for is not asked any more; nobody hears what is being answered.
      this.#line = this.#line.filter((asked) => asked.asker !== asker);
      reject(new ReadTooSlow());
    }, limitMs);
    // Every read may outlive its limit, and one that does has been answered.
    tooSlow.catch(() => {});
    try {
      return await Promise.race([work(this.#reader(asker)), tooSlow]);
    } finally {
      clearTimeout(limit);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#take();
    this.#refuseAll(closed());
    await worker?.terminate();
  }

  #reader(asker: Asker): Reader {
    const query = <R>({ sql, parameters }: CompiledStatement<R>) =>
      this.#ask(asker, { sql, parameters: storableParameters(parameters) }) as Promise<R[]>;
    const all = <P, R>(statement: Statement<P, R>, params: P) =>
      query(statement.bind("sqlite", params));
    return {
      dialect: "sqlite",
      query,
      all,
      first: async (statement, params) => (await all(statement, params))[0],
    };
  }

  #ask(asker: Asker, question: Question): Promise<unknown[]> {
    if (this.#isClosed) return Promise.reject(closed());
    if (asker.isOver) return Promise.reject(new ReadTooSlow());
    return new Promise((resolve, reject) => {
      this.#line.push({ asker, question, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current) return;
    this.#current = this.#line.shift();
    if (!this.#current) return;
    try {
      this.#worker ??= this.#begin();
      this.#idle?.refresh();
      this.#worker.postMessage(this.#current.question);
      this.#limit = setTimeout(() => this.#giveUp(), this.#current.asker.limitMs);
    } catch (error) {
      // No thread can be begun: nobody may wait for it.
      this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    this.#current?.reject(unreadable(error));
    this.#current = undefined;
    this.#next();
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
    worker.on("message", (answer: Answer) => this.#settle(worker, answer));
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", (code) =>
      this.#fail(worker, new Error(`the reader's thread ended (${code})`)),
    );
    this.#idle = setTimeout(() => this.#rest(), IDLE_MS).unref();
    return worker;
  }

  #settle(worker: Worker, { rows = [], problem }: Answer): void {
    // One that was given up has nothing to say any more.
    if (this.#worker !== worker) return;
    clearTimeout(this.#limit);
    const current = this.#current;
    this.#current = undefined;
    if (!problem) current?.resolve(rows);
    else current?.reject(asRefusal(Object.assign(new Error(problem.message), problem)));
    this.#next();
  }

  /** What it worked on is lost; the others are answered by another. */
  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#take();
    this.#lose(error);
  }

  /** The thread has worked on this alone for as long as it may; who waits behind it must not wait longer. */
  #giveUp(): void {
    const worker = this.#take();
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
    const waiting = [...(this.#current ? [this.#current] : []), ...this.#line];
    this.#current = undefined;
    this.#line = [];
    for (const { reject } of waiting) reject(error);
  }

  #rest(): void {
    if (this.#current) this.#idle?.refresh();
    else void this.#take()?.terminate();
  }

  #take(): Worker | undefined {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    clearTimeout(this.#limit);
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
  const answer = ({ sql, parameters }: Question): Answer => {
    try {
      let statement = prepared.get(sql);
      if (!statement) {
        // Statements of searches are many; what is kept of them must not be.
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
  parentPort?.on("message", (question: Question) => parentPort.postMessage(answer(question)));
}
