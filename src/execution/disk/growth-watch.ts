/**
 * Finds the workspace to stop on a disk that runs full. Nothing is stopped for the state of the disk
 * alone, because ending a command frees nothing: only when the free space has shrunk since the last
 * time, and then the workspace that has grown most since.
 */
import { readDeletedBytes } from "#execution/sandboxes/process-table.ts";
import { BYTES_PER_FILE, type Space } from "./space.ts";
import type { WatchedCommand, WorkspaceRoom } from "./workspace-meter.ts";

/** The disk may shrink by so much before anybody is ended for it. */
const SPARED_BYTES = 16 * 1024 ** 2;
/** A workspace that has grown by less is not one that fills the disk. */
const IDLE_BYTES = 1024 ** 2;
/** Open files are looked at no more often than this. */
const LOOK_EVERY_MS = 1_000;

interface Mark {
  free: number;
  weights: Map<WorkspaceRoom, number>;
}

export class PressedDisk {
  #mark: Mark | null = null;
  #lookedAt = 0;

  /** The disk has room again, or so little that all that write are ended. */
  clear(): void {
    this.#mark = null;
  }

  findGrowing(
    { freeBytes, freeFiles }: Space,
    commands: Iterable<WatchedCommand>,
  ): { room: WorkspaceRoom; grown: number } | null {
    const free = freeBytes + freeFiles * BYTES_PER_FILE;
    const rooms = new Map<WorkspaceRoom, WatchedCommand[]>();
    for (const command of commands)
      if (command.room && !command.isEnding)
        rooms.set(command.room, [...(rooms.get(command.room) ?? []), command]);
    this.#mark ??= {
      free,
      weights: new Map([...rooms.keys()].map((room) => [room, room.weight])),
    };
    const mark = this.#mark;
    // Space that came back and is taken again was taken.
    mark.free = Math.max(mark.free, free);
    if (mark.free - free <= SPARED_BYTES) return null;
    const found = heaviest(rooms, mark) ?? this.#findUnseen(rooms);
    if (found) this.#mark = null;
    return found;
  }

  /** Files that were deleted while they are open are found by no walk, but by a look at who has them open. */
  #findUnseen(rooms: ReadonlyMap<WorkspaceRoom, readonly WatchedCommand[]>) {
    const now = performance.now();
    if (now < this.#lookedAt + LOOK_EVERY_MS) return null;
    this.#lookedAt = now;
    const pids = [...rooms].flatMap(([room, commands]) =>
      commands.flatMap(({ process: { pid } }) => (pid === undefined ? [] : [{ room, pid }])),
    );
    const held = readDeletedBytes(pids.map(({ pid }) => pid));
    let found: { room: WorkspaceRoom; grown: number } | null = null;
    for (const { room, pid } of pids) {
      const grown = held.get(pid) ?? 0;
      if (grown > (found?.grown ?? IDLE_BYTES)) found = { room, grown };
    }
    return found;
  }
}

function heaviest(rooms: ReadonlyMap<WorkspaceRoom, readonly WatchedCommand[]>, mark: Mark) {
  let found: { room: WorkspaceRoom; grown: number } | null = null;
  for (const [room, commands] of rooms) {
    const from =
      mark.weights.get(room) ?? Math.min(...commands.map(({ weightAtStart }) => weightAtStart));
    const grown = room.weight - from;
    if (grown > (found?.grown ?? IDLE_BYTES)) found = { room, grown };
  }
  return found;
}
