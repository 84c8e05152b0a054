/**
 * A server's store: the real one, with time between a command, its commit and its acknowledgement.
 * When the server dies in between, a command that was not begun never happens, and a committed one
 * is never acknowledged. A command may run twice from its start, as after a conflict.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Refusal } from "#base/refusal.ts";
import type { Reader, Store, Tx } from "#base/store/index.ts";
import type { World } from "../world.ts";

class Undone extends Error {}

export class SimStore implements Store {
  readonly dialect = "sqlite";
  readonly #world: World;
  readonly #isUp: () => boolean;

  constructor(world: World, isUp: () => boolean) {
    this.#world = world;
    this.#isUp = isUp;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { scheduler } = this.#world;
    // The command runs later, still in the async context of its caller.
    const forAsker = AsyncLocalStorage.snapshot();
    const act = (tx: Tx) => forAsker(work, tx);
    return new Promise<T>((resolve, reject) => {
      scheduler.after(this.#delayMs(), async () => {
        if (!this.#isUp()) return;
        if (this.#isAway()) return reject(storeAway());
        const announcements: (() => void)[] = [];
        let answer: () => void;
        try {
          const result = await this.#commit(act, announcements);
          answer = () => {
            resolve(result);
            for (const announce of announcements) announce();
          };
        } catch (error) {
          answer = () => reject(error);
        }
        scheduler.after(this.#delayMs(), () => {
          if (this.#isUp()) answer();
        });
      });
    });
  }

  async #commit<T>(work: (tx: Tx) => Promise<T>, announcements: (() => void)[]): Promise<T> {
    const { random, real, odds, oracle, calm } = this.#world;
    if (!calm && random.chance(odds.conflicts)) {
      await real
        .transaction(async (tx) => {
          await work(watched(tx, []).tx);
          throw new Undone();
        })
        .catch(() => undefined);
    }
    let wrote = false;
    const result = await real.transaction((tx) => {
      announcements.length = 0;
      const watch = watched(tx, announcements);
      return work(watch.tx).finally(() => {
        wrote = watch.wrote();
      });
    });
    if (wrote) await oracle.committed();
    return result;
  }

  read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  readAside<T>(_limitMs: number, work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  #isAway(): boolean {
    const { calm, random, odds } = this.#world;
    return this.#world.storeIsAway() || (!calm && random.chance(odds.hiccups));
  }

  async migrate(): Promise<void> {
    // Done once, when the world is created.
  }

  checkWritable(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {}

  #delayMs(): number {
    const { calm, random, odds } = this.#world;
    if (calm) return 0;
    return random.chance(odds.slowStore) ? random.between(50, 900) : random.between(0, 3);
  }
}

function watched(tx: Tx, announcements: (() => void)[]): { tx: Tx; wrote: () => boolean } {
  let wrote = false;
  return {
    wrote: () => wrote,
    tx: {
      dialect: tx.dialect,
      now: tx.now,
      all: (statement, params) => tx.all(statement, params),
      first: (statement, params) => tx.first(statement, params),
      query: (compiled) => tx.query(compiled),
      run: (statement, params) => {
        wrote = true;
        return tx.run(statement, params);
      },
      execute: (compiled) => {
        wrote = true;
        return tx.execute(compiled);
      },
      whileSyncing: (read) => tx.whileSyncing(read),
      afterCommit: (announce) => {
        announcements.push(announce);
      },
    },
  };
}

function storeAway(): Refusal {
  return new Refusal("unavailable", "store_unavailable", "The store is away. Try again shortly.", {
    retryAfterMs: 2_000,
  });
}
