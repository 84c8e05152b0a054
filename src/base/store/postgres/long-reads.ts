/**
 * Long reads of PostgreSQL: a few at a time, so that they never have all connections, and each for as
 * long as it was given.
 */
import { type Reader, ReadTooSlow } from "../store.ts";

/** Fewer than there are connections. */
const MAX_AT_ONCE = 4;
const QUERY_CANCELLED = "57014";

type Work<T> = (reader: Reader) => Promise<T>;

export class Asides {
  readonly #waiting: (() => void)[] = [];
  #free = MAX_AT_ONCE;

  /** `connected` gives the reader of one connection to its work. */
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

  /** Waiting takes no longer than reading may. */
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
    // Whose turn it is has left the line by then, so its time cannot be over any more.
    await promise.finally(() => clearTimeout(limit));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

/** PostgreSQL gives a statement up by itself when its time is over. */
async function withTimeLimit<T>(reader: Reader, limitMs: number, work: Work<T>): Promise<T> {
  const say = (text: string) => reader.query({ sql: text, parameters: [] });
  await say("begin read only");
  try {
    await say(`set local statement_timeout = ${Math.ceil(limitMs)}`);
    return await work(reader);
  } catch (error) {
    const isTooSlow = (error as { code?: unknown }).code === QUERY_CANCELLED;
    throw isTooSlow ? new ReadTooSlow("", { cause: error }) : error;
  } finally {
    await say("rollback");
  }
}
