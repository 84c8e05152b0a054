/**
 * Meters the disk usage of one workspace and enforces its quota: the guard measures it while
 * commands run and ends those that take it over the quota.
 *
 * A command that begins in a full workspace may run, so that something can be deleted. If the
 * workspace has grown all the same, no further command may begin for a while, longer each time:
 * otherwise many short commands, each too short to be measured, could take any amount.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox, SandboxProcess } from "#execution/sandboxes/sandbox.ts";
import { WORKSPACE_FULL } from "#protocol/reports/disk-report.ts";
import { measureFolders, NO_USAGE, type Usage } from "./measure-folders.ts";
import { BYTES_PER_FILE, type Quota, type Space, sizeText } from "./space.ts";
import { readUsage, type StoredUsage, writeUsage } from "./usage-file.ts";

/** The part of the guard that a meter needs. */
export interface MeterHost {
  quota(folder: string): Quota;
  space(folder: string): Space;
  /** Refuses while the disk is almost full. */
  require(): void;
  add(command: WatchedCommand): void;
  remove(command: WatchedCommand): void;
  /** Measures the room when its turn comes. */
  measure(meter: WorkspaceMeter): Promise<void>;
}

export interface WatchedCommand {
  process: Pick<SandboxProcess, "kill" | "pid">;
  /** Null for the runner's own commands. */
  meter: WorkspaceMeter | null;
  startedAt: number;
  /** Weight of the workspace when the command began. */
  weightAtStart: number;
  /** True when the command began in a full workspace. */
  startedFull: boolean;
  /** Usage that a command in a full workspace must not exceed; null until it is measured. */
  baseline: Usage | null;
  isEnding?: boolean;
}

/** A walk stops after so many times the quota in files; the workspace is full in any case. */
const MAX_MEASURED_TIMES = 4;
/** Loss of free space after which a workspace is measured even if its commands were too short. */
const NOTABLE_BYTES = 16 * 1024 ** 2;
/** Allowed growth of a full workspace: deleting needs a little space as well. */
const SLACK = { bytes: 1024 ** 2, files: 64 };
const LOCK_MS = 60_000;
const LONGEST_LOCK_MS = 60 * 60_000;
const SAVE_EVERY_MS = 60_000;
/** Share of the quota that the snapshots may take up besides it. */
const RECORD_SHARE = 0.5;

export interface MeterOptions {
  /** Bytes that the person's other workspaces leave. */
  personLeft?: () => number;
  /** False for a folder that git fills: no usage file is written to it or read from it. */
  isKept?: boolean;
}

export class WorkspaceMeter {
  /** The workspace's own folder: work, scratch and record. */
  readonly folder: string;
  readonly #projectFolder: string | null;
  readonly #host: MeterHost;
  readonly #options: MeterOptions;
  readonly #running = new Set<WatchedCommand>();
  #before: StoredUsage["before"];
  #hidden: StoredUsage["hidden"];
  #usage: Usage;
  #recordBytes: number;
  #isKnown: boolean;
  /** Start of the last measurement; 0: never measured. */
  measuredAt = 0;
  measureTookMs = 0;
  /** Free space at the start of the last measurement, or of the first command after it. */
  #freeMark: Space;
  #endedAt = 0;
  #savedAt = 0;
  /** The lowest usage measured since the workspace is full; null while it is not. */
  #lowWater: Usage | null = null;
  #growths = 0;
  #lockedUntil = 0;

  constructor(
    folder: string,
    projectFolder: string | null,
    host: MeterHost,
    options: MeterOptions = {},
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

  /** Usage that counts for the quota. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Usage with the snapshots. */
  get totalBytes(): number {
    return this.#usage.bytes + this.#recordBytes;
  }

  get quota(): Quota {
    const { bytes, files } = this.#host.quota(this.workFolder);
    const left = this.#options.personLeft?.() ?? Number.POSITIVE_INFINITY;
    return { bytes: Math.max(0, Math.min(bytes, left)), files };
  }

  /** True if no further snapshots should be recorded. */
  get isRecordFull(): boolean {
    return this.#recordBytes > this.#host.quota(this.workFolder).bytes * RECORD_SHARE;
  }

  /**
   * True if the space the disk has lost could take the workspace over its quota, so it should be
   * measured now.
   */
  get mayBeOver(): boolean {
    const taken = this.#freeMark.freeBytes - this.#host.space(this.workFolder).freeBytes;
    return taken > Math.max(NOTABLE_BYTES, this.quota.bytes - this.#usage.bytes);
  }

  /** Measures, but waits at most `limitMs` for the result. */
  async freshUsage(limitMs: number): Promise<void> {
    await Promise.race([this.#host.measure(this), sleep(limitMs, undefined, { ref: false })]);
  }

  /**
   * Measures the workspace. Called by the guard only, which runs one walk per workspace at a time.
   */
  async measure(signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const space = this.#host.space(this.workFolder);
    const snapshots = join(this.folder, "keep.git");
    const maxFiles = this.quota.files * MAX_MEASURED_TIMES;
    const onRest = (soFar: Usage) => this.#endIfOver(soFar);
    const walk = { signal, opensUp: true, maxFiles };
    const own = await measureFolders([this.folder], { ...walk, except: snapshots, onRest });
    const record = await measureFolders([snapshots], { signal });
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
   * Charges lost disk space that was not found to folders that cannot be read. It stays charged
   * until they can be: otherwise each command could hide as much again.
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

  /** Detects that a full workspace has grown, and locks it for a while. */
  #followFull(measuredFrom: number): void {
    if (!this.#isOver(this.#usage)) {
      this.#lowWater = null;
      this.#growths = 0;
      this.#lockedUntil = 0;
      for (const command of this.#running) command.startedFull = false;
      return;
    }
    // A command that began during the measurement did so in a full workspace.
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

  /** Ends commands as soon as a partial walk shows that the quota is exceeded. */
  #endIfOver(soFar: Usage): void {
    if (!this.#isOver(soFar)) return;
    for (const command of this.#running)
      if (!command.startedFull && !command.isEnding) this.#end(command, this.#fullText(soFar));
  }

  #end(command: WatchedCommand, why: string): void {
    command.isEnding = true;
    command.process.kill("quota", why);
  }

  /** Ends the commands that exceed the quota; called after each measurement. */
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
      ? `${this.#fullText()} In a full workspace, commands can run as long as the workspace does not grow.`
      : null;
  }

  /** Watches every command of a sandbox. */
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

  /**
   * Watches the runner's own work in this folder, and aborts its signal if it exceeds the limits.
   */
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
      `${this.#fullText()} It was full and has still grown, so the next command can run in ${Math.ceil(waitMs / 1_000)} s. It should only delete.`,
    );
  }

  /** Registers a command; returns the function to call at its end. */
  #begin(process: WatchedCommand["process"]): () => void {
    const startedAt = performance.now();
    if (this.#running.size === 0 && this.measuredAt > this.#endedAt)
      this.#freeMark = this.#host.space(this.workFolder);
    const command: WatchedCommand = {
      process,
      meter: this,
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

  /** Bytes plus a little for each file, so that empty files count too. */
  get weight(): number {
    return this.#usage.bytes + this.#usage.files * BYTES_PER_FILE;
  }

  /** Refuses a file written by the runner that would not fit. */
  async require(bytes: number): Promise<void> {
    this.#host.require();
    if (this.#fits(bytes)) return;
    // The figures count replaced files twice, so they are checked before a refusal.
    await this.#host.measure(this);
    if (!this.#fits(bytes))
      throw new Refusal("conflict", WORKSPACE_FULL, `${this.#fullText()} Nothing was written.`);
  }

  /** Counts a file written by the runner, until the next measurement. */
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
      `workspace_full: the workspace uses ${sizeText(bytes)} in ${files} files, with /tmp and the home folder; the limit is ${sizeText(quota.bytes)} in ${quota.files} files.`,
      ...(isShared
        ? [
            "Other sessions of the same person use the rest of that person's space; end those that are done.",
          ]
        : []),
      ...(isWhole
        ? []
        : [
            "It contains folders that cannot be measured, because they are unreadable or nested too deep; delete them first.",
          ]),
      "Delete what is not needed, such as build output, caches and temporary files.",
    ].join(" ");
  }

  /** Saves the figures for the next start. */
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
