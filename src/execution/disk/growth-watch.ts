/**
 * Finds the workspace to stop on a disk that runs full. A low disk alone stops nothing, because
 * ending a command frees nothing: only when the free space has shrunk since the last check is the
 * workspace that has grown most since then stopped.
 */
import { readDeletedBytes } from "#execution/sandboxes/process-table.ts";
import { BYTES_PER_FILE, type Space } from "./space.ts";
import type { WatchedCommand, WorkspaceMeter } from "./workspace-meter.ts";

/** The disk may shrink by this much before any command is ended. */
const SPARED_BYTES = 16 * 1024 ** 2;
/** A workspace that has grown by less is not one that fills the disk. */
const IDLE_BYTES = 1024 ** 2;
/** Open files are looked at no more often than this. */
const LOOK_EVERY_MS = 1_000;

interface GrowthBaseline {
  free: number;
  weights: Map<WorkspaceMeter, number>;
}

export class GrowthWatch {
  #mark: GrowthBaseline | null = null;
  #lookedAt = 0;

  /**
   * Called when the disk has room again, or so little that all writing commands are ended anyway.
   */
  clear(): void {
    this.#mark = null;
  }

  findGrowing(
    { freeBytes, freeFiles }: Space,
    commands: Iterable<WatchedCommand>,
  ): { meter: WorkspaceMeter; grown: number } | null {
    const free = freeBytes + freeFiles * BYTES_PER_FILE;
    const meters = new Map<WorkspaceMeter, WatchedCommand[]>();
    for (const command of commands)
      if (command.meter && !command.isEnding)
        meters.set(command.meter, [...(meters.get(command.meter) ?? []), command]);
    this.#mark ??= {
      free,
      weights: new Map([...meters.keys()].map((meter) => [meter, meter.weight])),
    };
    const mark = this.#mark;
    // Space that was freed and taken again counts as taken.
    mark.free = Math.max(mark.free, free);
    if (mark.free - free <= SPARED_BYTES) return null;
    const found = findFastestGrowing(meters, mark) ?? this.#findUnseen(meters);
    if (found) this.#mark = null;
    return found;
  }

  /**
   * Finds files that were deleted while open, which no walk finds, by the processes that have them
   * open.
   */
  #findUnseen(meters: ReadonlyMap<WorkspaceMeter, readonly WatchedCommand[]>) {
    const now = performance.now();
    if (now < this.#lookedAt + LOOK_EVERY_MS) return null;
    this.#lookedAt = now;
    const pids = [...meters].flatMap(([meter, commands]) =>
      commands.flatMap(({ process: { pid } }) => (pid === undefined ? [] : [{ meter, pid }])),
    );
    const held = readDeletedBytes(pids.map(({ pid }) => pid));
    let found: { meter: WorkspaceMeter; grown: number } | null = null;
    for (const { meter, pid } of pids) {
      const grown = held.get(pid) ?? 0;
      if (grown > (found?.grown ?? IDLE_BYTES)) found = { meter, grown };
    }
    return found;
  }
}

function findFastestGrowing(
  meters: ReadonlyMap<WorkspaceMeter, readonly WatchedCommand[]>,
  mark: GrowthBaseline,
) {
  let found: { meter: WorkspaceMeter; grown: number } | null = null;
  for (const [meter, commands] of meters) {
    const from =
      mark.weights.get(meter) ?? Math.min(...commands.map(({ weightAtStart }) => weightAtStart));
    const grown = meter.weight - from;
    if (grown > (found?.grown ?? IDLE_BYTES)) found = { meter, grown };
  }
  return found;
}
