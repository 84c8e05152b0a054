/**
 * Virtual time. Planned events have an instant; one event happens at a time, and the next begins
 * only when everything the last one caused has settled, so one seed means one history.
 */
import type { Clock } from "#base/clock.ts";

interface Planned {
  at: number;
  order: number;
  act: () => unknown;
}

export class Scheduler {
  /** Monotonic time, as on a runner's steady clock. It never goes back. */
  now = Date.UTC(2026, 0, 1);
  /** An impossible event happened; it stops the simulation. */
  failure: Error | undefined;
  #order = 0;
  readonly #heap: Planned[] = [];

  get planned(): number {
    return this.#heap.length;
  }

  after(delayMs: number, act: () => unknown): void {
    this.#push({ at: this.now + Math.max(0, delayMs), order: this.#order++, act });
  }

  /** Runs the next event. False when nothing is planned. */
  async step(): Promise<boolean> {
    const next = this.#pop();
    if (!next) return false;
    this.now = Math.max(this.now, next.at);
    try {
      await next.act();
    } catch (error) {
      this.fail(error);
    }
    await settled();
    if (this.failure) throw this.failure;
    return true;
  }

  fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
  }

  #push(item: Planned): void {
    const heap = this.#heap;
    let index = heap.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (before(heap[parent] as Planned, item)) break;
      heap[index] = heap[parent] as Planned;
      index = parent;
    }
    heap[index] = item;
  }

  #pop(): Planned | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && before(right, heap[child] as Planned)) child += 1;
      if (before(last, heap[child] as Planned)) break;
      heap[index] = heap[child] as Planned;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function before(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** The engine waits for nothing but promises, so one turn of the event loop is enough. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The servers' time of day: it follows the scheduler, and can be moved. */
export class WallClock implements Clock {
  readonly #scheduler: Scheduler;
  #offset = 0;
  /** The furthest it has ever been ahead. */
  furthest = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  now = (): number => this.#scheduler.now + this.#offset;

  steady = (): number => this.#scheduler.now;

  jump(byMs: number): void {
    this.#offset += byMs;
    this.furthest = Math.max(this.furthest, this.#offset);
  }

  /** Undoes every jump into the past, so that everything that was ever due becomes due. */
  catchUp(): void {
    this.#offset = this.furthest;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      signal?.addEventListener("abort", () => resolve(), { once: true });
      this.#scheduler.after(delayMs, resolve);
    });
  }
}
