/**
 * The source of time, so that tests and the simulation can control it. Instants are epoch
 * milliseconds.
 */
export interface Clock {
  now(): number;
  /**
   * A monotonic clock that nobody can set, used to detect that `now` was moved. Its zero is
   * arbitrary.
   */
  steady?(): number;
  /** Resolves after `delayMs`, or at once when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  steady: () => performance.now(),
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, delayMs);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
      signal?.addEventListener("abort", done, { once: true });
    });
  },
};

/** A clock that stands still until `advance` is called. */
export class FakeClock implements Clock {
  #now: number;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now = (): number => this.#now;

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { at: this.#now + delayMs, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => this.#wake(sleeper), { once: true });
    });
  }

  /** Moves time forward and wakes, in order, every sleeper whose time has come. */
  advance(byMs: number): void {
    this.#now += byMs;
    const due = this.#sleepers.filter((s) => s.at <= this.#now).sort((a, b) => a.at - b.at);
    for (const sleeper of due) this.#wake(sleeper);
  }

  #wake(sleeper: { at: number; wake: () => void }): void {
    const index = this.#sleepers.indexOf(sleeper);
    if (index < 0) return;
    this.#sleepers.splice(index, 1);
    sleeper.wake();
  }
}
