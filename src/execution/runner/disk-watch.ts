/** Keeps the server informed about the runner's disk, and has the disk tended. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { DiskReport } from "#protocol/disk-report.ts";
import { Errand } from "./coalesced-task.ts";

const LOOK_EVERY_MS = 2_000;
const TEND_EVERY_MS = 60_000;
/** A disk that runs full is tended more often, because tending makes room. */
const PRESSED_TEND_EVERY_MS = 10_000;

/** The part of the machine's disk that a runner needs. */
export interface WatchedDisk {
  /** Looks at the free space now. */
  look(): void;
  /** Calls back when it has become almost full, or has room again. */
  onChange(listener: () => void): void;
  /** True when little more than the floor is free. */
  isPressed(): boolean;
  /** Prunes, packs and measures what the runner keeps. */
  tend(): Promise<void>;
  report(): DiskReport;
}

export interface DiskWatchOptions {
  disk: WatchedDisk;
  clock: Clock;
  log: Log;
  /** Aborts when the runner has left. */
  left: AbortSignal;
  send(report: DiskReport): Promise<unknown>;
}

export class DiskWatch {
  readonly #options: DiskWatchOptions;
  readonly #reporting: Errand;
  #isWatching = false;
  #isTending = false;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
    const { clock, left, log, disk } = options;
    this.#reporting = new Errand("report the disk", clock, left, log);
    disk.onChange(() => this.#report());
  }

  /** Called at each registration, which has carried a report. */
  start(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch();
  }

  #report(): void {
    const { disk, send } = this.#options;
    this.#reporting.request(async () => void (await send(disk.report())));
  }

  async #watch(): Promise<void> {
    const { disk, clock, left } = this.#options;
    let tendedAt = clock.now();
    while (!left.aborted) {
      await clock.sleep(LOOK_EVERY_MS, left);
      if (left.aborted) return;
      disk.look();
      const every = disk.isPressed() ? PRESSED_TEND_EVERY_MS : TEND_EVERY_MS;
      if (this.#isTending || clock.now() < tendedAt + every) continue;
      tendedAt = clock.now();
      void this.#tend();
    }
  }

  /** Takes minutes where much is deleted or packed; nobody waits for it, least of all the next look. */
  async #tend(): Promise<void> {
    const { disk, log } = this.#options;
    this.#isTending = true;
    try {
      await disk.tend();
    } catch (error) {
      log.warn({ err: error }, "the disk could not be tended");
    }
    this.#isTending = false;
    this.#report();
  }
}
