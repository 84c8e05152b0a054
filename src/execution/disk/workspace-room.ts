/**
 * The room of one workspace: what it takes up, how much it may, and the commands that run in it. The
 * guard measures it while commands run and ends those that take it over its quota.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox, SandboxProcess } from "#execution/sandboxes/sandbox.ts";
import { WORKSPACE_FULL } from "#protocol/disk-report.ts";
import { measureFolders, NO_USAGE, type Usage } from "./measure-folders.ts";
import { type Quota, type Space, sizeText } from "./space.ts";
import { readUsage, type StoredUsage, writeUsage } from "./usage-file.ts";

/** The part of the guard that a room needs. */
export interface RoomHost {
  quota(folder: string): Quota;
  space(folder: string): Space;
  /** Refuses while the disk is almost full. */
  require(): void;
  add(command: WatchedCommand): void;
  remove(command: WatchedCommand): void;
  /** Has the room measured soon. */
  measureSoon(room: WorkspaceRoom): void;
}

export interface WatchedCommand {
  process: SandboxProcess;
  /** Null for the runner's own commands. */
  room: WorkspaceRoom | null;
  startedAt: number;
  /** Usage of the room when the command began. */
  atStart: Usage;
  /** Free bytes of the disk at that time. */
  freeAtStart: number;
}

/** Space that was taken without a command running long enough to be measured. */
const NOTABLE_BYTES = 16 * 1024 ** 2;

export class WorkspaceRoom {
  /** The workspace's own folder: work, scratch and record. */
  readonly folder: string;
  readonly #projectFolder: string | null;
  readonly #host: RoomHost;
  #before: StoredUsage["before"];
  #usage: Usage;
  #isKnown: boolean;
  /** When the present figures began to be collected; 0: never. */
  measuredAt = 0;
  measureTookMs = 0;
  #freeAtMeasure: number;

  constructor(folder: string, projectFolder: string | null, host: RoomHost) {
    this.folder = folder;
    this.#projectFolder = projectFolder;
    this.#host = host;
    const stored = readUsage(folder);
    this.#before = stored?.before ?? null;
    this.#usage = stored ? { ...stored, isWhole: true } : NO_USAGE;
    this.#isKnown = stored !== null;
    this.#freeAtMeasure = host.space(this.workFolder).freeBytes;
  }

  get workFolder(): string {
    return this.#projectFolder ?? this.folder;
  }

  /** False before the first measurement. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get quota(): Quota {
    return this.#host.quota(this.workFolder);
  }

  /** Figures that are as fresh as can be had within `limitMs`. */
  async freshUsage(limitMs: number): Promise<Usage> {
    await Promise.race([this.measure(), sleep(limitMs, undefined, { ref: false })]);
    return this.#usage;
  }

  /** Measures all of it. */
  async measure(signal?: AbortSignal): Promise<Usage> {
    const startedAt = performance.now();
    const free = this.#host.space(this.workFolder).freeBytes;
    const own = await measureFolders([this.folder], signal);
    const project = this.#projectFolder
      ? await measureFolders([this.#projectFolder], signal)
      : NO_USAGE;
    if (signal?.aborted) return this.#usage;
    if (this.#projectFolder) this.#before ??= { bytes: project.bytes, files: project.files };
    this.#usage = {
      bytes: own.bytes + Math.max(0, project.bytes - (this.#before?.bytes ?? 0)),
      files: own.files + Math.max(0, project.files - (this.#before?.files ?? 0)),
      isWhole: own.isWhole && project.isWhole,
    };
    this.#isKnown = true;
    this.measuredAt = startedAt;
    this.measureTookMs = performance.now() - startedAt;
    this.#freeAtMeasure = free;
    return this.#usage;
  }

  /** Lets every command of a sandbox be watched. */
  watch(sandbox: Sandbox): Sandbox {
    return { ...sandbox, run: (command) => this.#watched(sandbox.run(command)) };
  }

  #watched(process: SandboxProcess): SandboxProcess {
    const freeAtStart = this.#host.space(this.workFolder).freeBytes;
    const atStart = this.#usage;
    const startedAt = performance.now();
    const command = { process, room: this, atStart, freeAtStart, startedAt };
    this.#host.add(command);
    void process.ended.then(() => {
      this.#host.remove(command);
      const taken = this.#freeAtMeasure - this.#host.space(this.workFolder).freeBytes;
      if (!this.#isKnown || taken > NOTABLE_BYTES) this.#host.measureSoon(this);
    });
    return process;
  }

  /** Why a command must end: it has taken the workspace over its quota. Null while it has not. */
  excess({ atStart, freeAtStart, startedAt }: WatchedCommand): string | null {
    // A command that began when the workspace was full may run, so that something can be deleted.
    if (this.measuredAt < startedAt) return null;
    const { quota } = this;
    const { bytes, files, isWhole } = this.#usage;
    if (
      bytes > Math.max(quota.bytes, atStart.bytes) ||
      files > Math.max(quota.files, atStart.files)
    )
      return this.#fullText();
    if (isWhole) return null;
    // Something is out of sight: then all that the disk has lost meanwhile is taken to be there.
    const hidden = Math.max(0, freeAtStart - this.#host.space(this.workFolder).freeBytes);
    return bytes + hidden > Math.max(quota.bytes, atStart.bytes)
      ? `${this.#fullText()} It holds folders that cannot be measured, because they cannot be read or are nested too deep.`
      : null;
  }

  /** Bytes by which the workspace has grown since a command began. */
  growth({ atStart }: WatchedCommand): number {
    return this.#usage.bytes - atStart.bytes;
  }

  /** Refuses a file of the runner's own making that would not fit. */
  async require(bytes: number): Promise<void> {
    this.#host.require();
    if (this.#fits(bytes)) return;
    // The figures count what was replaced twice, so they are checked before anything is refused.
    await this.measure();
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

  #fullText(): string {
    const { bytes, files } = this.#usage;
    const { quota } = this;
    return `workspace_full: the workspace takes up ${sizeText(bytes)} in ${files} files, with /tmp and the home folder; it may take up ${sizeText(quota.bytes)} in ${quota.files} files. Delete what is not needed, such as build output, caches and temporary files.`;
  }

  /** Writes the figures down for the next start. */
  save(): void {
    if (!this.#isKnown) return;
    const { bytes, files } = this.#usage;
    writeUsage(this.folder, { bytes, files, before: this.#before });
  }
}
