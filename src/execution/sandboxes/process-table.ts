/** The processes of this machine, read from `/proc`: who started whom, and how much memory they have. */
import { readdirSync, readFileSync } from "node:fs";

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
    // The name stands in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent = "0"] = fields;
    return { pid, parent: Number(parent), state, startedAt: fields[19] ?? "" };
  } catch {
    return undefined; // It has ended.
  }
}

export function isDead(row: ProcessRow | undefined): boolean {
  return row === undefined || row.state === "Z" || row.state === "X";
}

/** A process with all that descends from it. */
export function measureTree(top: number): { processes: number; memoryBytes: number } {
  const children = new Map<number, ProcessRow[]>();
  for (const name of readdirSync("/proc")) {
    const row = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    if (row) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  }
  const found = [...(children.get(top) ?? [])];
  // Grows while it is walked.
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return {
    processes: found.length,
    memoryBytes: found.reduce((sum, { pid }) => sum + memoryOf(pid), 0),
  };
}

/** What of it is in memory, also when it is shared with others. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0; // It has ended.
  }
}
