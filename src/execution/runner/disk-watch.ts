/** Keeps the server informed about the runner's disk, and has the disk tended. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { DiskReport } from "#protocol/disk-report.ts";
import { Errand } from "./errand.ts";

const LOOK_EVERY_MS = 2_000;
const TEND_EVERY_MS = 60_000;

/** The part of the machine's disk that a runner needs. */
export interface WatchedDisk {
  /** Looks at the free space now. */
  look(): void;
  /** Calls back when it has become almost full, or has room again. */
  onChange(listener: () => void): void;
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
    const { disk, clock, left, log } = this.#options;
    let tendAt = clock.now() + TEND_EVERY_MS;
    while (!left.aborted) {
      await clock.sleep(LOOK_EVERY_MS, left);
      if (left.aborted) return;
      disk.look();
      if (clock.now() < tendAt) continue;
      await disk
        .tend()
        .catch((error: unknown) => log.warn({ err: error }, "the disk could not be tended"));
      tendAt = clock.now() + TEND_EVERY_MS;
      this.#report();
    }
  }
}
