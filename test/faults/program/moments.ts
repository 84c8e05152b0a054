/** A repeated event that can be waited for. */
import { setTimeout as sleep } from "node:timers/promises";

export class Moments {
  #waiting: (() => void)[] = [];

  happen(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves at the next event, or after `withinMs` without one. */
  async next(withinMs: number): Promise<void> {
    const over = new AbortController();
    const happened = new Promise<void>((resolve) => this.#waiting.push(resolve));
    const tooLate = sleep(withinMs, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([happened, tooLate]);
    over.abort();
  }
}
