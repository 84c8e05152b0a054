/**
 * The room of one workspace: what it takes up, how much it may, and the commands that run in it. The
 * guard measures it while commands run and ends those that take it over its quota.
 *
 * A command that begins in a full workspace may run, so that something can be deleted. When the
 * workspace has grown by it all the same, no further command begins for a while, longer each time:
 * otherwise many short commands, each too short to be measured, would take any amount.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox, SandboxProcess } from "#execution/sandboxes/sandbox.ts";
import { WORKSPACE_FULL } from "#protocol/disk-report.ts";
import { measureFolders, NO_USAGE, type Usage } from "./measure-folders.ts";
import { BYTES_PER_FILE, type Quota, type Space, sizeText } from "./space.ts";
import { readUsage, type StoredUsage, writeUsage } from "./usage-file.ts";

/** The part of the guard that a room needs. */
export interface RoomHost {
  quota(folder: string): Quota;
  space(folder: string): Space;
  /** Refuses while the disk is almost full. */
  require(): void;
  add(command: WatchedCommand): void;
  remove(command: WatchedCommand): void;
  /** Measures the room when its turn comes. */
  measure(room: WorkspaceRoom): Promise<void>;
}

export interface WatchedCommand {
  process: Pick<SandboxProcess, "kill" | "pid">;
  /** Null for the runner's own commands. */
  room: WorkspaceRoom | null;
  startedAt: number;
  /** Weight of the room when the command began. */
  weightAtStart: number;
  /** True when the command began in a full workspace. */
  startedFull: boolean;
  /** Usage that a command in a full workspace must not exceed; null until it is measured. */
  baseline: Usage | null;
  isEnding?: boolean;
}

/** A walk stops after so many times the quota in files; the workspace is full in any case. */
const MAX_MEASURED_TIMES = 4;
/** Space that was taken without a command running long enough to be measured. */
const NOTABLE_BYTES = 16 * 1024 ** 2;
/** A full workspace may change by so much: deleting needs a little room as well. */
const SLACK = { bytes: 1024 ** 2, files: 64 };
const LOCK_MS = 60_000;
const LONGEST_LOCK_MS = 60 * 60_000;
const SAVE_EVERY_MS = 60_000;
/** The record of states may take up this share of the quota, besides it. */
const RECORD_SHARE = 0.5;

export interface RoomOptions {
  /** Bytes that the person's other workspaces leave. */
  personLeft?: () => number;
  /** False for a folder that git fills: nothing of ours is written into it, and what lies there is not believed. */
  isKept?: boolean;
}

export class WorkspaceRoom {
  /** The workspace's own folder: work, scratch and record. */
  readonly folder: string;
  readonly #projectFolder: string | null;
  readonly #host: RoomHost;
  readonly #options: RoomOptions;
  readonly #running = new Set<WatchedCommand>();
  #before: StoredUsage["before"];
  #hidden: StoredUsage["hidden"];
  #usage: Usage;
  #recordBytes: number;
  #isKnown: boolean;
  /** When the present figures began to be collected; 0: never. */
  measuredAt = 0;
  measureTookMs = 0;
  /** Free space when the present figures began to be collected, or the first command after that. */
  #freeMark: Space;
  #endedAt = 0;
  #savedAt = 0;
  /** The least that was measured since the workspace is full; null while it is not. */
  #lowWater: Usage | null = null;
  #growths = 0;
  #lockedUntil = 0;

  constructor(
    folder: string,
    projectFolder: string | null,
    host: RoomHost,
    options: RoomOptions = {},
  ) {
    this.folder = folder;
    this.#projectFolder = projectFolder;
    this.#host = host;
    this.#options = options;
    const stored = options.isKept === false ? null : readUsage(folder);
    this.#before = stored?.before ?? null;
    this.#hidden = stored?.hidden ?? { bytes: 0, files: 0 };
    this.#recordBytes = stored?.recordBytes ?? 0;
    this.#usage = stored
      ? { bytes: stored.bytes, files: stored.files, isWhole: true }
      : { ...NO_USAGE };
    this.#isKnown = stored !== null;
    this.#freeMark = host.space(this.workFolder);
  }

  get workFolder(): string {
    return this.#projectFolder ?? this.folder;
  }

  /** False before the first measurement. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** All that counts for the quota. */
  get usage(): Usage {
    return this.#usage;
  }

  /** With the record of its states. */
  get totalBytes(): number {
    return this.#usage.bytes + this.#recordBytes;
  }

  get quota(): Quota {
    const { bytes, files } = this.#host.quota(this.workFolder);
    const left = this.#options.personLeft?.() ?? Number.POSITIVE_INFINITY;
    return { bytes: Math.max(0, Math.min(bytes, left)), files };
  }

  /** True when no further states should be recorded. */
  get isRecordFull(): boolean {
    return this.#recordBytes > this.#host.quota(this.workFolder).bytes * RECORD_SHARE;
  }

  /** True when all that the disk has lost would take it over its quota: it should be measured now. */
  get mayBeOver(): boolean {
    const taken = this.#freeMark.freeBytes - this.#host.space(this.workFolder).freeBytes;
    return taken > Math.max(NOTABLE_BYTES, this.quota.bytes - this.#usage.bytes);
  }

  /** Has figures collected that are as fresh as can be had within `limitMs`. */
  async freshUsage(limitMs: number): Promise<void> {
    await Promise.race([this.#host.measure(this), sleep(limitMs, undefined, { ref: false })]);
  }

  /** Measures all of it. Called by the guard alone, which has one walk of a room at a time. */
  async measure(signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const space = this.#host.space(this.workFolder);
    const keep = join(this.folder, "keep.git");
    const maxFiles = this.quota.files * MAX_MEASURED_TIMES;
    const onRest = (soFar: Usage) => this.#endIfOver(soFar);
    const walk = { signal, opensUp: true, maxFiles };
    const own = await measureFolders([this.folder], { ...walk, except: keep, onRest });
    const record = await measureFolders([keep], { signal });
    const project = this.#projectFolder
      ? await measureFolders([this.#projectFolder], { signal })
      : NO_USAGE;
    if (signal.aborted) return;
    const isFirst = this.#projectFolder !== null && this.#before === null;
    if (isFirst) this.#before = { bytes: project.bytes, files: project.files };
    const seen = {
      bytes: own.bytes + Math.max(0, project.bytes - (this.#before?.bytes ?? 0)),
      files: own.files + Math.max(0, project.files - (this.#before?.files ?? 0)),
      isWhole: own.isWhole && project.isWhole,
    };
    this.#chargeHidden(seen, space);
    this.#usage = {
      bytes: seen.bytes + this.#hidden.bytes,
      files: seen.files + this.#hidden.files,
      isWhole: seen.isWhole,
    };
    this.#recordBytes = record.bytes;
    this.#isKnown = true;
    this.measuredAt = startedAt;
    this.measureTookMs = performance.now() - startedAt;
    this.#freeMark = space;
    this.#followFull(startedAt);
    if (isFirst || startedAt - this.#savedAt > SAVE_EVERY_MS) this.save();
  }

  /**
   * Takes all that the disk has lost, and that was not found, to be in folders that cannot be looked
   * at. It stays charged until they can: otherwise each command could hide as much again.
   */
  #chargeHidden(seen: Usage, { freeBytes, freeFiles }: Space): void {
    if (seen.isWhole) {
      this.#hidden = { bytes: 0, files: 0 };
      return;
    }
    const { bytes, files } = this.#hidden;
    const found = { bytes: this.#usage.bytes - bytes, files: this.#usage.files - files };
    const lostBytes = this.#freeMark.freeBytes - freeBytes - (seen.bytes - found.bytes);
    const lostFiles = this.#freeMark.freeFiles - freeFiles - (seen.files - found.files);
    this.#hidden = { bytes: bytes + Math.max(0, lostBytes), files: files + Math.max(0, lostFiles) };
  }

  /** Notes whether a workspace that is full has grown, and lets no command begin for a while then. */
  #followFull(measuredFrom: number): void {
    if (!this.#isOver(this.#usage)) {
      this.#lowWater = null;
      this.#growths = 0;
      this.#lockedUntil = 0;
      for (const command of this.#running) command.startedFull = false;
      return;
    }
    // A command that began meanwhile did so in a full workspace, though nobody knew it.
    for (const command of this.#running)
      if (command.startedAt > measuredFrom) command.startedFull = true;
    // The others are ended now; they may write until then.
    if ([...this.#running].some(({ startedFull }) => !startedFull)) return;
    const { bytes, files, isWhole } = this.#usage;
    const low = this.#lowWater;
    if (low && isMore(this.#usage, low)) {
      this.#lockedUntil =
        performance.now() + Math.min(LOCK_MS * 2 ** this.#growths, LONGEST_LOCK_MS);
      this.#growths += 1;
      this.#lowWater = this.#usage;
    } else {
      this.#lowWater = low
        ? { bytes: Math.min(bytes, low.bytes), files: Math.min(files, low.files), isWhole }
        : this.#usage;
    }
  }

  #isOver({ bytes, files }: Pick<Usage, "bytes" | "files">): boolean {
    const { quota } = this;
    return bytes > quota.bytes || files > quota.files;
  }

  /** Ends what takes the workspace over its quota as soon as half a walk shows it. */
  #endIfOver(soFar: Usage): void {
    if (!this.#isOver(soFar)) return;
    for (const command of this.#running)
      if (!command.startedFull && !command.isEnding) this.#end(command, this.#fullText(soFar));
  }

  #end(command: WatchedCommand, why: string): void {
    command.isEnding = true;
    command.process.kill("quota", why);
  }

  /** Ends the commands that take it over its quota; called after each measurement. */
  endExcess(): void {
    for (const command of this.#running) {
      const excess = command.isEnding ? null : this.#excess(command);
      if (excess !== null) this.#end(command, excess);
    }
  }

  #excess(command: WatchedCommand): string | null {
    if (!command.startedFull) return this.#isOver(this.#usage) ? this.#fullText() : null;
    if (this.measuredAt < command.startedAt) return null;
    command.baseline ??= this.#usage;
    return isMore(this.#usage, command.baseline)
      ? `${this.#fullText()} A command in a full workspace may run as long as the workspace does not grow.`
      : null;
  }

  /** Lets every command of a sandbox be watched. */
  watch(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      run: (command) => {
        this.#requireUnlocked();
        const process = sandbox.run(command);
        const done = this.#begin(process);
        void process.ended.then(done);
        return process;
      },
    };
  }

  /** Watches work that the runner does itself in this folder; the signal that it gets ends it. */
  async watchWork<T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    refuse: (ended: { by: "quota" | "disk"; why: string }) => Error,
  ): Promise<T> {
    const own = new AbortController();
    const kill: SandboxProcess["kill"] = (by, why = "") =>
      own.abort(refuse({ by: by === "quota" ? by : "disk", why }));
    const done = this.#begin({ kill });
    try {
      return await work(AbortSignal.any([signal, own.signal]));
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error;
    } finally {
      done();
    }
  }

  #requireUnlocked(): void {
    const waitMs = this.#lockedUntil - performance.now();
    if (waitMs <= 0) return;
    throw new Refusal(
      "conflict",
      WORKSPACE_FULL,
      `${this.#fullText()} It was full and has grown all the same, so the next command can run in ${Math.ceil(waitMs / 1_000)} s. Let it only delete.`,
    );
  }

  /** Returns what is to be called at the end. */
  #begin(process: WatchedCommand["process"]): () => void {
    const startedAt = performance.now();
    if (this.#running.size === 0 && this.measuredAt > this.#endedAt)
      this.#freeMark = this.#host.space(this.workFolder);
    const command: WatchedCommand = {
      process,
      room: this,
      startedAt,
      weightAtStart: this.weight,
      startedFull: this.#isOver(this.#usage),
      baseline: this.#lowWater && this.#usage,
    };
    this.#running.add(command);
    this.#host.add(command);
    return () => {
      this.#running.delete(command);
      this.#endedAt = performance.now();
      this.#host.remove(command);
      const taken = this.#freeMark.freeBytes - this.#host.space(this.workFolder).freeBytes;
      if (!this.#isKnown || taken > NOTABLE_BYTES || this.#isOver(this.#usage))
        void this.#host.measure(this);
    };
  }

  /** Bytes, with a little for each file, so that a maker of empty files weighs something too. */
  get weight(): number {
    return this.#usage.bytes + this.#usage.files * BYTES_PER_FILE;
  }

  /** Refuses a file of the runner's own making that would not fit. */
  async require(bytes: number): Promise<void> {
    this.#host.require();
    if (this.#fits(bytes)) return;
    // The figures count what was replaced twice, so they are checked before anything is refused.
    await this.#host.measure(this);
    if (!this.#fits(bytes))
      throw new Refusal("conflict", WORKSPACE_FULL, `${this.#fullText()} Nothing was written.`);
  }

  /** Counts a file that the runner has written, until the next measurement. */
  note(bytes: number): void {
    const { bytes: before, files, isWhole } = this.#usage;
    this.#usage = { bytes: before + bytes, files: files + 1, isWhole };
  }

  #fits(bytes: number): boolean {
    const { quota } = this;
    return this.#usage.bytes + bytes <= quota.bytes && this.#usage.files < quota.files;
  }

  #fullText({ bytes, files, isWhole }: Usage = this.#usage): string {
    const { quota } = this;
    const isShared = quota.bytes < this.#host.quota(this.workFolder).bytes;
    return [
      `workspace_full: the workspace takes up ${sizeText(bytes)} in ${files} files, with /tmp and the home folder; it may take up ${sizeText(quota.bytes)} in ${quota.files} files.`,
      ...(isShared
        ? [
            "Other sessions of the same person take up the rest of what one person may have; end those that are done.",
          ]
        : []),
      ...(isWhole
        ? []
        : [
            "It holds folders that cannot be measured, because they cannot be read or are nested too deep; delete them first.",
          ]),
      "Delete what is not needed, such as build output, caches and temporary files.",
    ].join(" ");
  }

  /** Writes the figures down for the next start. */
  save(): void {
    if (!this.#isKnown || this.#options.isKept === false) return;
    this.#savedAt = performance.now();
    const { bytes, files } = this.#usage;
    const kept = { recordBytes: this.#recordBytes, hidden: this.#hidden, before: this.#before };
    writeUsage(this.folder, { bytes, files, ...kept });
  }
}

/** True when a full workspace has grown by more than deleting needs. */
function isMore(now: Usage, then: Usage): boolean {
  return now.bytes > then.bytes + SLACK.bytes || now.files > then.files + SLACK.files;
}
