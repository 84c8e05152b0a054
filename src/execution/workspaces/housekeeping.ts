/**
 * Maintains a runner's disk when there is time: deletes unneeded files, packs snapshots, and
 * measures workspaces, one thing at a time. Called about once a minute.
 */
import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { DiskGuard } from "#execution/disk/disk-guard.ts";
import { measureFolders } from "#execution/disk/measure-folders.ts";
import { personLimitOn } from "#execution/disk/space.ts";
import { readUsage, writeUsage } from "#execution/disk/usage-file.ts";
import type { WorkspaceMeter } from "#execution/disk/workspace-meter.ts";
import { type DiskReport, WORKSPACE_FULL } from "#protocol/reports/disk-report.ts";
import { removeTree } from "./folders/remove-tree.ts";
import type { NamedQueues } from "./queue.ts";
import { DELETING, scanRecords, type WorkspaceRecord } from "./records.ts";
import { listSnapshotFiles, planPacking } from "./snapshots/pack-snapshots.ts";
import type { SnapshotStore } from "./snapshots/snapshot-store.ts";

export interface MaintainedWorkspace {
  meter: WorkspaceMeter;
  snapshots: SnapshotStore;
}

/** The part of housekeeping that an open workspace needs. */
export type MeterRegistry = Pick<
  Housekeeping,
  "meterOpened" | "meterClosed" | "personLeft" | "mirrorRequested"
>;

export interface HousekeepingOptions {
  liveFolder: string;
  removedFolder: string;
  mirrorsFolder: string;
  disk: DiskGuard;
  clock: Clock;
  log: Log;
  closing: AbortSignal;
  /** Queue of each mirror: one that is being written is not deleted. */
  inTurn: NamedQueues;
  live(): readonly WorkspaceRecord[];
  /** Removed workspaces, the latest first. */
  removed(): readonly WorkspaceRecord[];
  /** An open workspace, or null. */
  opened(sessionId: string): Promise<MaintainedWorkspace | null>;
  /** Opens a closed workspace, and closes it again. */
  borrow(
    sessionId: string,
    use: (workspace: MaintainedWorkspace, signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
}

const REMOVED_KEPT_MS = 7 * 24 * 60 * 60_000;
const MIRROR_KEPT_MS = 7 * 24 * 60 * 60_000;
/** Shorter retention while the disk runs full, for copies that can be fetched again. */
const PRESSED_MIRROR_KEPT_MS = 5 * 60_000;
const MEASURED_AGAIN_MS = 6 * 60 * 60_000;
const MIRROR_MEASURED_AGAIN_MS = 60 * 60_000;
/** Time after which measuring stops for this round. */
const MEASURE_FOR_MS = 5_000;
/** Records that are packed in one round; the others wait for the next. */
const MAX_PACKED = 4;
/** Delay before a record that could not be packed is tried again. */
const PACK_AGAIN_MS = 60 * 60_000;
/** Time that the sums for each person are cached. */
const PEOPLE_FOR_MS = 1_000;

interface Measurement {
  bytes: number;
  at: number;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  /** Measurements by name of the workspace or mirror. */
  readonly #measurements = new Map<string, Measurement>();
  /** Closed records that are packed; they do not change until they are opened. */
  readonly #packed = new Set<string>();
  /** Last listing of the folder: each record there is a file to be read. */
  #removed: readonly WorkspaceRecord[] | undefined;
  /** Meters of open workspaces, by id. */
  readonly #meters = new Map<string, WorkspaceMeter>();
  readonly #unpackableAt = new Map<string, number>();
  /** People who requested a mirror, by mirror. */
  readonly #mirrorRequesters = new Map<string, Set<string>>();
  #sweeping: Promise<void> | undefined;
  #people = { at: Number.NEGATIVE_INFINITY, bytes: new Map<string, number>() };

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

  /**
   * Deletes removed workspaces for good, the oldest first: after 7 days, and earlier while the disk
   * runs full or their owner's workspaces take up more than one person may have.
   */
  sweepRemoved(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { clock, log, removedFolder, disk, closing } = this.#options;
    for (const name of scanRecords(removedFolder).unfinished)
      await removeTree(join(removedFolder, name));
    for (const { id, removedAt, ownerId } of this.#options.removed().toReversed()) {
      if (closing.aborted) return;
      const isOld = (removedAt ?? 0) + REMOVED_KEPT_MS <= clock.now();
      if (!isOld && !disk.isPressed && !this.#isOverLimit(ownerId)) continue;
      const [from, to] = [join(removedFolder, id), join(removedFolder, `${DELETING}${id}`)];
      // The workspace may have been brought back while another was deleted.
      if (!existsSync(from)) continue;
      renameSync(from, to);
      this.#measurements.delete(id);
      this.#removed = this.#removed?.filter((record) => record.id !== id);
      this.#people.at = Number.NEGATIVE_INFINITY;
      await removeTree(to);
      const why = isOld ? "after 7 days" : "early, to make room";
      log.info({ workspaceId: id }, `removed workspace deleted permanently, ${why}`);
    }
  }

  /** Notes that a workspace was removed or brought back. */
  noteMoved(): void {
    this.#removed = undefined;
    this.#people.at = Number.NEGATIVE_INFINITY;
  }

  #isOverLimit(ownerId: string | null): boolean {
    return ownerId !== null && this.#bytesOf(ownerId) > this.#personLimit();
  }

  #personLimit(): number {
    const { disk, liveFolder } = this.#options;
    return personLimitOn(disk.space(liveFolder));
  }

  meterOpened(id: string, meter: WorkspaceMeter): void {
    this.#meters.set(id, meter);
  }

  meterClosed(id: string, { totalBytes: bytes }: WorkspaceMeter): void {
    this.#meters.delete(id);
    this.#measurements.set(id, { bytes, at: this.#options.clock.now() });
  }

  /** Bytes that the other workspaces of the same person leave for this one. */
  personLeft({ id, ownerId }: Pick<WorkspaceRecord, "id" | "ownerId">): number {
    if (ownerId === null) return Number.POSITIVE_INFINITY;
    return this.#personLimit() - (this.#bytesOf(ownerId) - this.#bytesIn(id));
  }

  /** Refuses another workspace to a person whose workspaces already take up all they may. */
  async requireSpace(wanted: Pick<WorkspaceRecord, "id" | "ownerId">): Promise<void> {
    if (this.personLeft(wanted) > 0) return;
    // Removed workspaces of the same person are deleted first.
    await this.sweepRemoved();
    if (this.personLeft(wanted) > 0) return;
    throw new Refusal(
      "conflict",
      WORKSPACE_FULL,
      "Your sessions use all the space that one person may use on this runner. End sessions that are done (terminate them), or have their agents delete files.",
    );
  }

  #bytesIn(id: string): number {
    return this.#meters.get(id)?.totalBytes ?? this.#measurements.get(id)?.bytes ?? 0;
  }

  /** Bytes by person; a mirror counts once for each person who works on it or has asked for it. */
  #sumByPerson(records: readonly WorkspaceRecord[]): Map<string, number> {
    const held = new Map<string, Set<string>>();
    const add = (ownerId: string | null, name: string | null) => {
      if (ownerId === null || name === null) return;
      const names = held.get(ownerId);
      if (names) names.add(name);
      else held.set(ownerId, new Set([name]));
    };
    for (const { id, ownerId, mirror } of records) {
      add(ownerId, id);
      add(ownerId, mirror);
    }
    for (const [mirror, owners] of this.#mirrorRequesters)
      for (const owner of owners) add(owner, mirror);
    const sum = (names: ReadonlySet<string>) =>
      [...names].reduce((total, name) => total + this.#bytesIn(name), 0);
    return new Map([...held].map(([ownerId, names]) => [ownerId, sum(names)]));
  }

  /** Notes a person who has a mirror fetched: it may never become the base of a workspace. */
  mirrorRequested(mirror: string, ownerId: string | null): void {
    if (ownerId === null) return;
    const owners = this.#mirrorRequesters.get(mirror) ?? new Set();
    this.#mirrorRequesters.set(mirror, owners.add(ownerId));
  }

  /** Size of all workspaces of a person, also archived and removed ones. */
  #bytesOf(ownerId: string): number {
    const now = this.#options.clock.now();
    if (this.#people.at + PEOPLE_FOR_MS <= now) {
      this.#removed ??= this.#options.removed();
      this.#people = {
        at: now,
        bytes: this.#sumByPerson([...this.#options.live(), ...this.#removed]),
      };
    }
    return this.#people.bytes.get(ownerId) ?? 0;
  }

  /** Deletes mirrors that no workspace needs and that nobody has asked for lately. */
  async pruneMirrors(): Promise<void> {
    const { mirrorsFolder, clock, disk, log } = this.#options;
    const keptMs = disk.isPressed ? PRESSED_MIRROR_KEPT_MS : MIRROR_KEPT_MS;
    const inUse = this.#mirrorsInUse();
    for (const name of readdirSync(mirrorsFolder)) {
      if (name.startsWith(DELETING)) {
        await removeTree(join(mirrorsFolder, name));
        continue;
      }
      const isOld = usedAt(join(mirrorsFolder, name)) + keptMs <= clock.now();
      if (!isOld || inUse.has(name)) continue;
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
    if (!existsSync(to)) return;
    this.#measurements.delete(name);
    this.#mirrorRequesters.delete(name);
    await removeTree(to);
  }

  #mirrorsInUse(): Set<string> {
    const { live, removed } = this.#options;
    return new Set([...live(), ...removed()].flatMap(({ mirror }) => mirror ?? []));
  }

  async #pack(): Promise<void> {
    const { live, liveFolder, closing, disk, clock, log } = this.#options;
    let packed = 0;
    const ids = new Set(live().map(({ id }) => id));
    for (const id of this.#packed) if (!ids.has(id)) this.#packed.delete(id);
    for (const record of live()) {
      // Packing needs space for a while.
      if (closing.aborted || packed >= MAX_PACKED || disk.isPressed) return;
      const failedAt = this.#unpackableAt.get(record.id) ?? Number.NEGATIVE_INFINITY;
      if (failedAt + PACK_AGAIN_MS > clock.now()) continue;
      try {
        this.#unpackableAt.delete(record.id);
        if (await this.#packOne(record, join(liveFolder, record.id, "keep.git"))) packed++;
      } catch (error) {
        // A record that cannot be packed must not block the others.
        packed++;
        this.#unpackableAt.set(record.id, clock.now());
        log.warn({ err: error, workspaceId: record.id }, "a record could not be packed");
      }
    }
  }

  /** False when there was nothing to pack. */
  async #packOne({ id, sessionId }: WorkspaceRecord, folder: string): Promise<boolean> {
    const open = await this.#options.opened(sessionId);
    if (open) this.#packed.delete(id);
    if (this.#packed.has(id)) return false;
    if (planPacking(listSnapshotFiles(folder)) === null) {
      if (!open) this.#packed.add(id);
      return false;
    }
    if (open) await open.snapshots.pack();
    else await this.#options.borrow(sessionId, ({ snapshots }, signal) => snapshots.pack(signal));
    return true;
  }

  async #measure(): Promise<void> {
    const { live, liveFolder, removedFolder, mirrorsFolder, clock, closing } = this.#options;
    const until = clock.now() + MEASURE_FOR_MS;
    const isTime = () => clock.now() <= until && !closing.aborted;
    for (const { id, sessionId } of live()) {
      if (!isTime()) return;
      const open = await this.#options.opened(sessionId);
      if (open) this.#measurements.set(id, { bytes: open.meter.totalBytes, at: clock.now() });
      else await this.#measureClosed(id, join(liveFolder, id), MEASURED_AGAIN_MS);
    }
    for (const { id } of this.#removed ?? [])
      if (isTime()) await this.#measureClosed(id, join(removedFolder, id), MEASURED_AGAIN_MS);
    for (const name of readdirSync(mirrorsFolder)) {
      const isKnown = this.#isFresh(name, MIRROR_MEASURED_AGAIN_MS);
      if (!isTime() || isKnown) continue;
      const { bytes } = await measureFolders([join(mirrorsFolder, name)], { signal: closing });
      this.#measurements.set(name, { bytes, at: clock.now() });
    }
  }

  #isFresh(name: string, forMs: number): boolean {
    const figure = this.#measurements.get(name);
    return figure !== undefined && figure.at + forMs > this.#options.clock.now();
  }

  /** A closed workspace does not change, so its saved figures are used where there are some. */
  async #measureClosed(id: string, folder: string, forMs: number): Promise<void> {
    if (this.#isFresh(id, forMs)) return;
    const { clock, closing } = this.#options;
    const known = readUsage(folder);
    if (known) {
      this.#measurements.set(id, { bytes: known.bytes + known.recordBytes, at: clock.now() });
      return;
    }
    const snapshots = join(folder, "keep.git");
    const { bytes, files } = await measureFolders([folder], { signal: closing, except: snapshots });
    const { bytes: recordBytes } = await measureFolders([snapshots], { signal: closing });
    if (closing.aborted) return;
    writeUsage(folder, { bytes, files, recordBytes, hidden: { bytes: 0, files: 0 }, before: null });
    this.#measurements.set(id, { bytes: bytes + recordBytes, at: clock.now() });
  }

  report(): DiskReport {
    const { disk, live, mirrorsFolder } = this.#options;
    this.#removed ??= this.#options.removed();
    const sum = (names: readonly string[]) => ({
      count: names.length,
      bytes: names.reduce((total, name) => total + (this.#measurements.get(name)?.bytes ?? 0), 0),
    });
    return {
      ...disk.figures(),
      workspaces: sum(live().map(({ id }) => id)),
      removed: sum(this.#removed.map(({ id }) => id)),
      mirrors: sum(readdirSync(mirrorsFolder)),
    };
  }
}

/** Time when a mirror was last fetched into; see `clone.ts`. */
function usedAt(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
