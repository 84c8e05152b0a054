/**
 * A task that runs again whenever it is requested: one run at a time, once more if it was requested
 * meanwhile, and again after a pause if it failed.
 */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { LeaseLost } from "#execution/runtimes/runtime.ts";

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export class CoalescedTask {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #log: Log;
  readonly #maxPauseMs: number;
  #pending: (() => Promise<void>) | undefined;
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
    this.#pending = work;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let pauseMs = FIRST_PAUSE_MS;
    while (this.#pending && !this.#signal.aborted) {
      const work = this.#pending;
      this.#pending = undefined;
      try {
        await work();
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        // The connection was lost; the task is requested anew after it is back.
        if (error instanceof LeaseLost) continue;
        this.#log.warn({ err: error }, `could not ${this.#name}; it is tried again`);
        this.#pending ??= work;
        await this.#clock.sleep(pauseMs, this.#signal);
        pauseMs = Math.min(pauseMs * 2, this.#maxPauseMs);
      }
    }
    this.#isRunning = false;
  }
}
