/**
 * Whose search runs when. The database has few hands for long reads: one thread on SQLite, a few
 * connections on PostgreSQL. Searches of one person run one after the other and take turns with those
 * of others, so nobody waits for more than one search of anybody else. Who asked something that took
 * too long waits for a moment: on SQLite it may still be running where nobody can stop it.
 */
import { FairLine } from "#base/fair-line.ts";
import { Refusal } from "#base/refusal.ts";
import type { Engine } from "#engine/index.ts";
import { SEARCH_TOO_SLOW } from "./contract.ts";

const MAX_WAITING = 16;
const PAUSE_MS = 5_000;

export class SearchTurns {
  readonly #lines = {
    sqlite: new FairLine({ atOnce: 1, perParty: 1, waiting: MAX_WAITING }),
    postgres: new FairLine({ atOnce: 4, perParty: 1, waiting: MAX_WAITING }),
  };
  /** Until when somebody waits after a search that took too long. */
  readonly #paused = new Map<string, number>();

  async take<T>(engine: Engine, userId: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#lines[engine.store.dialect].enter(userId);
    if (!release)
      throw new Refusal(
        "limit",
        "too_many_searches",
        `You have ${MAX_WAITING} searches waiting. Wait for their answers, then search again.`,
        { retryAfterMs: 1_000 },
      );
    try {
      this.#requireNoPause(userId, engine.clock.now());
      return await work();
    } catch (error) {
      const isSlow = error instanceof Refusal && error.code === SEARCH_TOO_SLOW;
      if (isSlow) this.#paused.set(userId, engine.clock.now() + PAUSE_MS);
      throw error;
    } finally {
      release();
    }
  }

  #requireNoPause(userId: string, now: number): void {
    for (const [id, until] of this.#paused) if (until <= now) this.#paused.delete(id);
    const until = this.#paused.get(userId);
    if (until === undefined) return;
    throw new Refusal(
      "limit",
      "search_paused",
      "Your last search took too long. Wait a few seconds, then search with more or rarer words.",
      { retryAfterMs: until - now },
    );
  }
}
