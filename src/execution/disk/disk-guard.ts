/**
 * Keeps one agent from filling the disk that all share. While commands run it looks at the free space
 * four times a second and measures the workspaces they run in:
 *
 * - A command that takes its workspace over the quota is ended.
 * - Below twice the floor, the command that has written most is ended, so that the others go on.
 * - Below the floor, every command that writes is ended, and nothing new begins until there is room.
 */
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import { DISK_LOW, type DiskReport } from "#protocol/disk-report.ts";
import { NO_USAGE } from "./measure-folders.ts";
import {
  floorOf,
  isBelow,
  type Quota,
  quotaOn,
  type ReadSpace,
  readSpace,
  type Space,
  sizeText,
} from "./space.ts";
import { type RoomHost, type WatchedCommand, WorkspaceRoom } from "./workspace-room.ts";

export interface DiskSettings {
  workspace: Quota;
  /** Null: by the size of the disk. */
  floorBytes: number | null;
}

export const DEFAULT_DISK: DiskSettings = {
  workspace: { bytes: 20 * 1024 ** 3, files: 1_000_000 },
  floorBytes: null,
};

export interface DiskGuardOptions {
  /** The runner's own. */
  folder: string;
  settings: DiskSettings;
  log: Log;
  readSpace?: ReadSpace;
  tickMs?: number;
}

const TICK_MS = 250;
const MEASURE_EVERY_MS = 1_000;
/** A walk that takes long is repeated less often: it may take a fifth of the time. */
const REST_TIMES = 4;
const MAX_WALKS = 2;
/** Below twice the floor a command that has written less than this is left alone. */
const SPARED_BYTES = 16 * 1024 ** 2;
/** A command that has written less than this does not count as one that writes. */
const IDLE_BYTES = 1024 ** 2;
/** Work goes on when a little more than the floor is free, so that it does not stop again at once. */
const RECOVERED_TIMES = 1.1;
const PRESSED_TIMES = 2;
/** Below this much of the floor all commands are ended: one of them writes where it is not seen. */
const NO_MERCY_TIMES = 0.8;

export class DiskGuard implements RoomHost {
  readonly #options: DiskGuardOptions;
  readonly #commands = new Set<WatchedCommand>();
  readonly #walking = new Set<WorkspaceRoom>();
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
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

  space(folder: string): Space {
    try {
      return (this.#options.readSpace ?? readSpace)(folder);
    } catch {
      return (this.#options.readSpace ?? readSpace)(this.#options.folder);
    }
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

  /** True when what can be made again should be deleted now. */
  get isPressed(): boolean {
    return this.#isBelow(this.#options.folder, PRESSED_TIMES);
  }

  #isBelow(folder: string, times: number): boolean {
    const space = this.space(folder);
    return isBelow(space, floorOf(space, this.#options.settings.floorBytes), times);
  }

  /** The refusal that `require` throws, if it would. */
  refusal(): Refusal | null {
    this.look();
    return this.#isLow ? new Refusal("unavailable", DISK_LOW, this.#lowText()) : null;
  }

  require(): void {
    const refusal = this.refusal();
    if (refusal) throw refusal;
  }

  #lowText(): string {
    const { freeBytes, floorBytes } = this.figures();
    return `The disk of the runner is almost full: ${sizeText(freeBytes)} are free, and ${sizeText(floorBytes)} must stay free. Work waits and goes on by itself when there is room; somebody must make room on that machine.`;
  }

  /** Free space, floor and quota, for reports. */
  figures(): Pick<DiskReport, "freeBytes" | "totalBytes" | "floorBytes" | "isLow" | "quota"> {
    const { folder, settings } = this.#options;
    const space = this.space(folder);
    return {
      freeBytes: space.freeBytes,
      totalBytes: space.totalBytes,
      floorBytes: floorOf(space, settings.floorBytes),
      isLow: this.#isLow,
      quota: this.quota(folder),
    };
  }

  openRoom(folder: string, projectFolder: string | null): WorkspaceRoom {
    const room = new WorkspaceRoom(folder, projectFolder, this);
    if (!room.isKnown) this.measureSoon(room);
    return room;
  }

  /** Watches the runner's own commands: they have no quota, but end at the floor. */
  watch(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      run: (command) => {
        const process = sandbox.run(command);
        const startedAt = performance.now();
        const own = { process, room: null, atStart: NO_USAGE, freeAtStart: 0, startedAt };
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

  measureSoon(room: WorkspaceRoom): void {
    void this.#measure(room);
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.look();
    const now = performance.now();
    for (const { room } of this.#commands)
      if (room && this.#isDue(room, now)) void this.#measure(room);
    this.#endWriters();
    if (!this.#isLow && this.isPressed) this.#endHeaviest();
  }

  #isDue(room: WorkspaceRoom, now: number): boolean {
    const pause = this.isPressed ? 0 : Math.max(MEASURE_EVERY_MS, room.measureTookMs * REST_TIMES);
    return now >= room.measuredAt + room.measureTookMs + pause;
  }

  async #measure(room: WorkspaceRoom): Promise<void> {
    if (this.#walking.has(room) || this.#walking.size >= MAX_WALKS) return;
    this.#walking.add(room);
    try {
      await room.measure(this.#closing.signal);
    } finally {
      this.#walking.delete(room);
    }
    for (const command of this.#commands) {
      const excess = command.room === room ? room.excess(command) : null;
      if (excess !== null) command.process.kill("quota", excess);
    }
  }

  #endWriters(): void {
    for (const command of this.#commands) {
      const { room, startedAt } = command;
      // A project folder may lie on another disk, which has a floor of its own.
      if (!this.#isLow && !(room && this.#isBelow(room.workFolder, 1))) continue;
      const isKnownIdle = room && room.measuredAt > startedAt && room.growth(command) < IDLE_BYTES;
      // A file that was deleted while it is open takes up room that no walk finds.
      const mayGoOn = isKnownIdle && !this.#isBelow(room.workFolder, NO_MERCY_TIMES);
      if (!mayGoOn) this.#endFor(command, this.#lowText());
    }
  }

  #endHeaviest(): void {
    let heaviest: WatchedCommand | undefined;
    let most = SPARED_BYTES;
    for (const command of this.#commands) {
      const growth = command.room?.growth(command) ?? 0;
      if (growth <= most) continue;
      most = growth;
      heaviest = command;
    }
    if (!heaviest) return;
    const wrote = `This workspace has grown by ${sizeText(most)} meanwhile.`;
    this.#endFor(heaviest, `The disk of the runner is running full. ${wrote}`);
  }

  #endFor({ process }: WatchedCommand, why: string): void {
    process.kill("disk", `disk_low: ${why} Delete what is not needed before you write more.`);
  }
}
