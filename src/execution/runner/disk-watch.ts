/** Reports the runner's disk to the server, and has the disk maintained. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import { CoalescedTask } from "./coalesced-task.ts";

const LOOK_EVERY_MS = 2_000;
const TEND_EVERY_MS = 60_000;
/** A disk that runs full is maintained more often, because maintenance frees space. */
const PRESSED_TEND_EVERY_MS = 10_000;

/** The part of the machine's disk that a runner needs. */
export interface WatchedDisk {
  /** Looks at the free space now. */
  look(): void;
  /** Registers a listener for the disk becoming almost full, or having space again. */
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
  readonly #reporting: CoalescedTask;
  #isWatching = false;
  #isTending = false;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
    const { clock, left, log, disk } = options;
    this.#reporting = new CoalescedTask("report the disk", clock, left, log);
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

  /** Runs in the background, because deleting or packing much takes minutes. */
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
