/**
 * What a runner does for its disk when there is time: deletes what nobody needs, packs records, and
 * measures what it holds, one thing at a time. Called about once a minute.
 */
import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { DiskGuard } from "#execution/disk/disk-guard.ts";
import { measureFolders } from "#execution/disk/measure-folders.ts";
import { readUsage, writeUsage } from "#execution/disk/usage-file.ts";
import type { WorkspaceRoom } from "#execution/disk/workspace-room.ts";
import type { DiskReport } from "#protocol/disk-report.ts";
import type { Keep } from "./keep.ts";
import { listRecordFiles, planPacking } from "./pack-record.ts";
import type { InTurn } from "./queue.ts";
import type { WorkspaceRecord } from "./records.ts";
import { removeTree } from "./remove-tree.ts";

export interface OpenPlace {
  room: WorkspaceRoom;
  keep: Keep;
}

export interface HousekeepingOptions {
  liveFolder: string;
  removedFolder: string;
  mirrorsFolder: string;
  disk: DiskGuard;
  clock: Clock;
  log: Log;
  closing: AbortSignal;
  /** The queue of each mirror: one that is being written is not deleted. */
  inTurn: InTurn;
  live(): readonly WorkspaceRecord[];
  removed(): readonly WorkspaceRecord[];
  /** A workspace that is open, or null. */
  opened(sessionId: string): Promise<OpenPlace | null>;
  /** Opens one that is not, and closes it again. */
  borrow(sessionId: string, use: (place: OpenPlace) => Promise<void>): Promise<void>;
}

const REMOVED_KEPT_MS = 7 * 24 * 60 * 60_000;
const MIRROR_KEPT_MS = 7 * 24 * 60 * 60_000;
/** When the disk runs full, copies that can be fetched again go earlier. */
const PRESSED_MIRROR_KEPT_MS = 60 * 60_000;
const MEASURED_AGAIN_MS = 6 * 60 * 60_000;
const MIRROR_MEASURED_AGAIN_MS = 60 * 60_000;
/** Measuring stops for this minute after so long. */
const CENSUS_MS = 5_000;
/** Records that are packed in one round; the others wait for the next. */
const MAX_PACKED = 4;
const DELETING = ".deleting-";

interface Figure {
  bytes: number;
  at: number;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  /** By name of the workspace or mirror. */
  readonly #figures = new Map<string, Figure>();
  /** Closed records that were found to be packed; they do not change until they are opened. */
  readonly #packed = new Set<string>();
  /** As the folder was last listed: each record there is a file to be read. */
  #removed: readonly WorkspaceRecord[] | undefined;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  async tend(): Promise<void> {
    const { closing, log } = this.#options;
    this.#removed = this.#options.removed();
    const tasks = [
      () => this.sweepRemoved(),
      () => this.pruneMirrors(),
      () => this.#pack(),
      () => this.#measure(),
    ];
    for (const task of tasks) {
      if (closing.aborted) return;
      await task().catch((error: unknown) =>
        log.warn({ err: error }, "a part of the disk could not be tended; it is tried again"),
      );
    }
  }

  /** Deletes for good what was removed more than 7 days ago. */
  async sweepRemoved(): Promise<void> {
    const { clock, log, removedFolder } = this.#options;
    for (const { id, removedAt } of this.#options.removed()) {
      if ((removedAt ?? 0) + REMOVED_KEPT_MS > clock.now()) continue;
      await removeTree(join(removedFolder, id));
      this.#figures.delete(id);
      this.#removed = this.#removed?.filter((record) => record.id !== id);
      log.info({ workspaceId: id }, "removed workspace deleted for good");
    }
  }

  /** Deletes mirrors that no workspace rests on and that nobody has asked for lately. */
  async pruneMirrors(): Promise<void> {
    const { mirrorsFolder, clock, disk, log } = this.#options;
    const keptMs = disk.isPressed ? PRESSED_MIRROR_KEPT_MS : MIRROR_KEPT_MS;
    for (const name of readdirSync(mirrorsFolder)) {
      if (name.startsWith(DELETING)) {
        await removeTree(join(mirrorsFolder, name));
        continue;
      }
      const isOld = usedAt(join(mirrorsFolder, name)) + keptMs <= clock.now();
      if (!isOld || this.#mirrorsInUse().has(name)) continue;
      await this.#deleteMirror(name, keptMs);
      log.info({ mirror: name }, "mirror deleted; it is fetched again when it is needed");
    }
  }

  async #deleteMirror(name: string, keptMs: number): Promise<void> {
    const { mirrorsFolder, inTurn, closing, clock } = this.#options;
    const [from, to] = [join(mirrorsFolder, name), join(mirrorsFolder, `${DELETING}${name}`)];
    const deleteIt = async () => {
      // A clone may have been made while this waited.
      if (this.#mirrorsInUse().has(name) || usedAt(from) + keptMs > clock.now()) return;
      renameSync(from, to);
    };
    await inTurn(name, deleteIt, { signal: closing, error: () => new Error("closing") });
    this.#figures.delete(name);
    if (existsSync(to)) await removeTree(to);
  }

  #mirrorsInUse(): Set<string> {
    const { live, removed } = this.#options;
    return new Set([...live(), ...removed()].flatMap(({ mirror }) => mirror ?? []));
  }

  async #pack(): Promise<void> {
    const { live, liveFolder, closing, disk } = this.#options;
    // A pack needs room for a while.
    if (disk.isPressed) return;
    let packed = 0;
    for (const record of live()) {
      if (closing.aborted || packed >= MAX_PACKED) return;
      if (await this.#packOne(record, join(liveFolder, record.id, "keep.git"))) packed++;
    }
  }

  /** False when there was nothing to pack. */
  async #packOne({ id, sessionId }: WorkspaceRecord, folder: string): Promise<boolean> {
    const open = await this.#options.opened(sessionId);
    if (open) this.#packed.delete(id);
    if (this.#packed.has(id)) return false;
    if (planPacking(listRecordFiles(folder)) === null) {
      if (!open) this.#packed.add(id);
      return false;
    }
    if (open) await open.keep.pack();
    else await this.#options.borrow(sessionId, ({ keep }) => keep.pack());
    return true;
  }

  async #measure(): Promise<void> {
    const { live, liveFolder, removedFolder, mirrorsFolder, clock, closing } = this.#options;
    const until = clock.now() + CENSUS_MS;
    const isTime = () => clock.now() <= until && !closing.aborted;
    for (const { id, sessionId } of live()) {
      if (!isTime()) return;
      const open = await this.#options.opened(sessionId);
      if (open) this.#figures.set(id, { bytes: open.room.usage.bytes, at: clock.now() });
      else await this.#measureClosed(id, join(liveFolder, id), MEASURED_AGAIN_MS);
    }
    for (const { id } of this.#removed ?? [])
      if (isTime()) await this.#measureClosed(id, join(removedFolder, id), MEASURED_AGAIN_MS);
    for (const name of readdirSync(mirrorsFolder)) {
      const isKnown = this.#isFresh(name, MIRROR_MEASURED_AGAIN_MS);
      if (!isTime() || isKnown) continue;
      const { bytes } = await measureFolders([join(mirrorsFolder, name)], closing);
      this.#figures.set(name, { bytes, at: clock.now() });
    }
  }

  #isFresh(name: string, forMs: number): boolean {
    const figure = this.#figures.get(name);
    return figure !== undefined && figure.at + forMs > this.#options.clock.now();
  }

  /** Nothing changes in it, so the figures that were written down are used where there are some. */
  async #measureClosed(id: string, folder: string, forMs: number): Promise<void> {
    if (this.#isFresh(id, forMs)) return;
    const { clock, closing } = this.#options;
    const known = readUsage(folder);
    if (!known) {
      const { bytes, files } = await measureFolders([folder], closing);
      if (closing.aborted) return;
      writeUsage(folder, { bytes, files, before: null });
      this.#figures.set(id, { bytes, at: clock.now() });
    } else this.#figures.set(id, { bytes: known.bytes, at: clock.now() });
  }

  report(): DiskReport {
    const { disk, live, mirrorsFolder } = this.#options;
    this.#removed ??= this.#options.removed();
    const sum = (names: readonly string[]) => ({
      count: names.length,
      bytes: names.reduce((total, name) => total + (this.#figures.get(name)?.bytes ?? 0), 0),
    });
    return {
      ...disk.figures(),
      workspaces: sum(live().map(({ id }) => id)),
      removed: sum(this.#removed.map(({ id }) => id)),
      mirrors: sum(readdirSync(mirrorsFolder)),
    };
  }
}

/** When a mirror was last fetched into; see `clone.ts`. */
function usedAt(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
