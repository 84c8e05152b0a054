/**
 * Long reads of PostgreSQL: a few at a time, so that they never use all connections, and each with
 * a time limit.
 */
import { type Reader, ReadTooSlow } from "../store.ts";

/** Must stay below the size of the pool. */
const MAX_AT_ONCE = 4;
const QUERY_CANCELLED = "57014";

type Work<T> = (reader: Reader) => Promise<T>;

export class LongReads {
  readonly #waiting: (() => void)[] = [];
  #free = MAX_AT_ONCE;

  /** `connected` calls its argument with a reader on one connection. */
  async read<T>(
    limitMs: number,
    connected: (work: Work<T>) => Promise<T>,
    work: Work<T>,
  ): Promise<T> {
    await this.#enter(limitMs);
    try {
      return await connected((reader) => withTimeLimit(reader, limitMs, work));
    } finally {
      this.#leave();
    }
  }

  /** Waiting has the same time limit as reading. */
  async #enter(limitMs: number): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const limit = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
      reject(new ReadTooSlow());
    }, limitMs);
    // A waiter whose turn has come has left the queue, so its limit cannot reject it any more.
    await promise.finally(() => clearTimeout(limit));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

/** PostgreSQL itself cancels a statement at the time limit. */
async function withTimeLimit<T>(reader: Reader, limitMs: number, work: Work<T>): Promise<T> {
  const run = (text: string) => reader.query({ sql: text, parameters: [] });
  await run("begin read only");
  try {
    await run(`set local statement_timeout = ${Math.ceil(limitMs)}`);
    return await work(reader);
  } catch (error) {
    const isTooSlow = (error as { code?: unknown }).code === QUERY_CANCELLED;
    throw isTooSlow ? new ReadTooSlow("", { cause: error }) : error;
  } finally {
    await run("rollback");
  }
}
