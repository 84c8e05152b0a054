/**
 * Schedules searches. The database has little capacity for long reads: one thread on SQLite, a few
 * connections on PostgreSQL. Searches of one person run one after the other and take turns with those
 * of others, so nobody waits for more than one search of anybody else. A person whose search took too
 * long is paused for a moment, and longer each time: on SQLite the search may still run where nobody
 * can stop it, and there is room for few of those.
 */
import { FairQueue } from "#base/fair-queue.ts";
import { Refusal } from "#base/refusal.ts";
import type { Engine } from "#engine/index.ts";
import { SEARCH_TOO_SLOW } from "../contract.ts";

const MAX_WAITING = 16;
const PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A slow search is forgotten after this time. */
const FORGIVEN_AFTER_MS = 15 * 60_000;

export class SearchTurns {
  readonly #lines = {
    sqlite: new FairQueue({ atOnce: 1, perParty: 1, waiting: MAX_WAITING }),
    postgres: new FairQueue({ atOnce: 4, perParty: 1, waiting: MAX_WAITING }),
  };
  /** End of each person's pause, and the number of their slow searches. */
  readonly #paused = new Map<string, { until: number; times: number }>();

  async take<T>(engine: Engine, userId: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#lines[engine.store.dialect].enter(userId);
    if (!release)
      throw new Refusal(
        "limit",
        "too_many_searches",
        `You have ${MAX_WAITING} pending searches. Wait for their answers, then search again.`,
        { retryAfterMs: 1_000 },
      );
    try {
      this.#requireNoPause(userId, engine.clock.now());
      return await work();
    } catch (error) {
      const isSlow = error instanceof Refusal && error.code === SEARCH_TOO_SLOW;
      if (isSlow) this.#pause(userId, engine.clock.now());
      throw error;
    } finally {
      release();
    }
  }

  #pause(userId: string, now: number): void {
    const times = (this.#paused.get(userId)?.times ?? 0) + 1;
    const pauseMs = Math.min(PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
    this.#paused.set(userId, { until: now + pauseMs, times });
  }

  #requireNoPause(userId: string, now: number): void {
    for (const [id, { until }] of this.#paused)
      if (until + FORGIVEN_AFTER_MS <= now) this.#paused.delete(id);
    const { until = 0 } = this.#paused.get(userId) ?? {};
    if (until <= now) return;
    throw new Refusal(
      "limit",
      "search_paused",
      "Your last search took too long. Wait a few seconds, then search with more or rarer words.",
      { retryAfterMs: until - now },
    );
  }
}
