/**
 * Something to be done again whenever it is asked for: one at a time, once more when it was asked for
 * meanwhile, and again after a pause when it failed.
 */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { LeaseLost } from "#execution/runtimes/runtime.ts";

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export class Errand {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #log: Log;
  readonly #maxPauseMs: number;
  #wanted: (() => Promise<void>) | undefined;
  #isRunning = false;

  constructor(
    name: string,
    clock: Clock,
    signal: AbortSignal,
    log: Log,
    maxPauseMs = MAX_PAUSE_MS,
  ) {
    this.#name = name;
    this.#clock = clock;
    this.#signal = signal;
    this.#log = log;
    this.#maxPauseMs = maxPauseMs;
  }

  request(work: () => Promise<void>): void {
    this.#wanted = work;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let pauseMs = FIRST_PAUSE_MS;
    while (this.#wanted && !this.#signal.aborted) {
      const work = this.#wanted;
      this.#wanted = undefined;
      try {
        await work();
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        // The line was lost: whoever comes back asks anew.
        if (error instanceof LeaseLost) continue;
        this.#log.warn({ err: error }, `could not ${this.#name}; it is tried again`);
        this.#wanted ??= work;
        await this.#clock.sleep(pauseMs, this.#signal);
        pauseMs = Math.min(pauseMs * 2, this.#maxPauseMs);
      }
    }
    this.#isRunning = false;
  }
}
