/** Processes of this machine, read from `/proc`: their parents, and their memory. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

export interface ProcessRow {
  pid: number;
  parent: number;
  state: string;
  /** Tells a process from a later one with the same id. */
  startedAt: string;
}

export function readProcess(pid: number): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent = "0"] = fields;
    return { pid, parent: Number(parent), state, startedAt: fields[19] ?? "" };
  } catch {
    return undefined; // The process has ended.
  }
}

export function isDead(row: ProcessRow | undefined): boolean {
  return row === undefined || row.state === "Z" || row.state === "X";
}

type Children = ReadonlyMap<number, readonly ProcessRow[]>;

function readChildren(): Children {
  const children = new Map<number, ProcessRow[]>();
  for (const name of readdirSync("/proc")) {
    const row = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    if (!row) continue;
    const known = children.get(row.parent);
    if (known) known.push(row);
    else children.set(row.parent, [row]);
  }
  return children;
}

function descendants(top: number, children: Children): ProcessRow[] {
  const found = [...(children.get(top) ?? [])];
  // The list grows while it is walked.
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Bytes of deleted files that a process, or one of its descendants, still has open. */
export function readDeletedBytes(tops: readonly number[]): Map<number, number> {
  let children: Children;
  try {
    children = readChildren();
  } catch {
    return new Map(); // No Linux.
  }
  return new Map(
    tops.map((top) => {
      const files = new Map<string, number>();
      for (const pid of [top, ...descendants(top, children).map((row) => row.pid)])
        addDeleted(pid, files);
      return [top, [...files.values()].reduce((sum, bytes) => sum + bytes, 0)];
    }),
  );
}

const MAX_OPEN_FILES = 4_096;
const BLOCK_BYTES = 512;

function addDeleted(pid: number, files: Map<string, number>): void {
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`).slice(0, MAX_OPEN_FILES)) {
      const at = `/proc/${pid}/fd/${name}`;
      if (!readlinkSync(at).endsWith(" (deleted)")) continue;
      const { dev, ino, blocks } = statSync(at);
      files.set(`${dev}:${ino}`, blocks * BLOCK_BYTES);
    }
  } catch {
    // The process has ended, or may not be looked at.
  }
}

/** Measures a process with all its descendants. */
export function measureTree(top: number): { processes: number; memoryBytes: number } {
  const found = descendants(top, readChildren());
  return {
    processes: found.length,
    memoryBytes: found.reduce((sum, { pid }) => sum + memoryOf(pid), 0),
  };
}

/** Resident memory of a process, shared memory included. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0; // The process has ended.
  }
}
