/**
 * Keeps one agent from filling the shared disk. While commands run the guard checks the free space
 * four times a second and measures their workspaces:
 *
 * - Commands that take their workspace over the quota are ended.
 * - Below twice the floor, while the space goes on shrinking, the commands of the workspace that grows
 *   most are ended, so that the others continue.
 * - Below the floor, every command that writes is ended, and nothing new begins until there is room.
 */
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import { DISK_LOW, type DiskReport } from "#protocol/reports/disk-report.ts";
import { GrowthWatch } from "./growth-watch.ts";
import {
  floorOf,
  isBelow,
  lacksFiles,
  type Quota,
  quotaOn,
  type ReadSpace,
  readSpace,
  type Space,
  sizeText,
} from "./space.ts";
import {
  type MeterHost,
  type MeterOptions,
  type WatchedCommand,
  WorkspaceMeter,
} from "./workspace-meter.ts";

export interface DiskSettings {
  workspace: Quota;
  /** Null to derive it from the size of the disk. */
  floorBytes: number | null;
}

export const DEFAULT_DISK: DiskSettings = {
  workspace: { bytes: 20 * 1024 ** 3, files: 1_000_000 },
  floorBytes: null,
};

export interface DiskGuardOptions {
  /** Folder of the runner itself. */
  folder: string;
  settings: DiskSettings;
  log: Log;
  readSpace?: ReadSpace;
  tickMs?: number;
}

const TICK_MS = 250;
const MEASURE_EVERY_MS = 1_000;
/** Long walks are repeated less often: measuring takes at most a fifth of the time. */
const REST_TIMES = 4;
const MAX_WALKS = 2;
/** A command that has written less than this does not count as one that writes. */
const IDLE_BYTES = 1024 ** 2;
/** Work continues when a little more than the floor is free, so that it does not stop again at once. */
const RECOVERED_TIMES = 1.1;
const PRESSED_TIMES = 2;
/**
 * Below this share of the floor all commands are ended: one of them writes where it is not seen.
 */
const KILL_ALL_TIMES = 0.8;
/** A command this young may not have been measured; it is not taken for one that writes. */
const YOUNG_MS = 2_000;

interface Walk {
  isBegun: boolean;
  done: Promise<void>;
}

export class DiskGuard implements MeterHost {
  readonly #options: DiskGuardOptions;
  readonly #commands = new Set<WatchedCommand>();
  /** Meters being measured or waiting for it, in order. */
  readonly #walks = new Map<WorkspaceMeter, Walk>();
  readonly #waiting: (() => void)[] = [];
  readonly #pressed = new GrowthWatch();
  #walking = 0;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  #lastSpace: Space | undefined;
  #isLow = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
    this.look();
  }

  /** Calls back when the disk has become almost full, or has room again. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Space of a folder's disk; of the runner's own disk if that cannot be read, or else as last
   * seen.
   */
  space(folder: string): Space {
    const { folder: own, readSpace: read = readSpace } = this.#options;
    for (const asked of [folder, own]) {
      try {
        const space = read(asked);
        if (asked === own) this.#lastSpace = space;
        return space;
      } catch (error) {
        if (asked === own && !this.#lastSpace) throw error;
      }
    }
    return this.#lastSpace as Space;
  }

  quota(folder: string): Quota {
    return quotaOn(this.space(folder), this.#options.settings.workspace);
  }

  /** Looks at the free space now. */
  look(): void {
    const { folder, settings, log } = this.#options;
    const space = this.space(folder);
    const floor = floorOf(space, settings.floorBytes);
    const isLow = isBelow(space, floor, this.#isLow ? RECOVERED_TIMES : 1);
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    const facts = { freeBytes: space.freeBytes, floorBytes: floor };
    if (isLow) log.warn(facts, "the disk is almost full; commands that write are ended");
    else log.info(facts, "the disk has room again; work goes on");
    for (const listener of this.#listeners) listener();
  }

  get isLow(): boolean {
    return this.#isLow;
  }

  /** True if files that can be recreated should be deleted now. */
  get isPressed(): boolean {
    return this.#isBelow(this.#options.folder, PRESSED_TIMES);
  }

  #isBelow(folder: string, times: number): boolean {
    const space = this.space(folder);
    return isBelow(space, floorOf(space, this.#options.settings.floorBytes), times);
  }

  /** Refusal that `require` would throw; null if it would not. */
  refusal(): Refusal | null {
    this.look();
    return this.#isLow ? new Refusal("unavailable", DISK_LOW, this.#lowText()) : null;
  }

  require(): void {
    const refusal = this.refusal();
    if (refusal) throw refusal;
  }

  #lowText(folder = this.#options.folder): string {
    const space = this.space(folder);
    const floor = floorOf(space, this.#options.settings.floorBytes);
    const figures = lacksFiles(space, floor)
      ? `only ${space.freeFiles} of its ${space.totalFiles} files (inodes) are free`
      : `${sizeText(space.freeBytes)} are free, and ${sizeText(floor)} must stay free`;
    return `The runner's disk${folder === this.#options.folder ? "" : " for this folder"} is almost full: ${figures}. Work waits and continues by itself when there is space; end sessions that are done, or free space on that machine.`;
  }

  /** Free space, floor and quota, for reports. */
  figures(): Omit<DiskReport, "workspaces" | "mirrors" | "removed"> {
    const { folder, settings } = this.#options;
    const space = this.space(folder);
    return {
      freeBytes: space.freeBytes,
      totalBytes: space.totalBytes,
      freeFiles: space.freeFiles,
      totalFiles: space.totalFiles,
      floorBytes: floorOf(space, settings.floorBytes),
      isLow: this.#isLow,
      isPressed: this.isPressed,
      quota: this.quota(folder),
    };
  }

  openMeter(folder: string, projectFolder: string | null, options?: MeterOptions): WorkspaceMeter {
    const meter = new WorkspaceMeter(folder, projectFolder, this, options);
    if (!meter.isKnown) void this.measure(meter);
    return meter;
  }

  /** Watches the runner's own commands: they have no quota, but end at the floor. */
  watch(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      run: (command) => {
        const process = sandbox.run(command);
        const own: WatchedCommand = {
          process,
          meter: null,
          startedAt: performance.now(),
          weightAtStart: 0,
          startedFull: false,
          baseline: null,
        };
        this.add(own);
        void process.ended.then(() => this.remove(own));
        return process;
      },
    };
  }

  add(command: WatchedCommand): void {
    this.#commands.add(command);
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs ?? TICK_MS).unref();
  }

  remove(command: WatchedCommand): void {
    this.#commands.delete(command);
    if (this.#commands.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Measures a workspace when its turn comes, with figures collected after this call. */
  async measure(meter: WorkspaceMeter): Promise<void> {
    const current = this.#walks.get(meter);
    if (current?.isBegun) await current.done;
    await (this.#walks.get(meter) ?? this.#startWalk(meter)).done;
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.look();
    const now = performance.now();
    for (const { meter } of this.#commands)
      if (meter && !this.#walks.has(meter) && this.#isDue(meter, now)) void this.measure(meter);
    this.#endWriters(now);
    this.#endGrowing();
  }

  #isDue(meter: WorkspaceMeter, now: number): boolean {
    if (this.isPressed || meter.mayBeOver) return true;
    const pause = Math.max(MEASURE_EVERY_MS, meter.measureTookMs * REST_TIMES);
    return now >= meter.measuredAt + meter.measureTookMs + pause;
  }

  #startWalk(meter: WorkspaceMeter): Walk {
    const walk: Walk = { isBegun: false, done: Promise.resolve() };
    walk.done = this.#walkInTurn(meter, walk);
    this.#walks.set(meter, walk);
    return walk;
  }

  /** Limits the number of concurrent walks; the others wait in order. */
  async #walkInTurn(meter: WorkspaceMeter, walk: Walk): Promise<void> {
    if (this.#walking >= MAX_WALKS)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#walking += 1;
    walk.isBegun = true;
    try {
      await meter.measure(this.#closing.signal);
      if (!this.#closing.signal.aborted) meter.endExcess();
    } finally {
      this.#walks.delete(meter);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#walking -= 1;
    }
  }

  #endWriters(now: number): void {
    for (const command of this.#commands) {
      const { meter, startedAt } = command;
      const low = this.#lowFolder(meter);
      if (low === null || command.isEnding) continue;
      // A file that was deleted while it is open takes up room that no walk finds.
      const isSpared = meter !== null && !this.#isBelow(low, KILL_ALL_TIMES);
      const isMeasured = meter !== null && meter.measuredAt > startedAt;
      const mayGoOn = isMeasured
        ? meter.weight - command.weightAtStart < IDLE_BYTES
        : now - startedAt < YOUNG_MS;
      if (!isSpared || !mayGoOn) this.#endFor(command, this.#lowText(low));
    }
  }

  /** Folder whose disk is below its floor, of the two that a command writes to. */
  #lowFolder(meter: WorkspaceMeter | null): string | null {
    if (this.#isLow) return this.#options.folder;
    // A project folder may be on another disk, which has a floor of its own.
    return meter && this.#isBelow(meter.workFolder, 1) ? meter.workFolder : null;
  }

  #endGrowing(): void {
    if (this.#isLow || !this.isPressed) {
      this.#pressed.clear();
      return;
    }
    const found = this.#pressed.findGrowing(this.space(this.#options.folder), this.#commands);
    if (!found) return;
    const wrote = `This workspace has grown by ${sizeText(found.grown)} in the meantime, more than any other.`;
    for (const command of this.#commands)
      if (command.meter === found.meter && !command.isEnding)
        this.#endFor(command, `The runner's disk is filling up. ${wrote}`);
  }

  #endFor(command: WatchedCommand, why: string): void {
    command.isEnding = true;
    command.process.kill("disk", `disk_low: ${why}`);
  }
}
