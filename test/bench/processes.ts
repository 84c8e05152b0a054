/** Process figures from `/proc`: the tree, memory and processor time. */
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10;
const MIB = 1024;

export interface Memory {
  rssMib: number;
  pssMib: number;
}

/** A process and all its descendants. */
export function listTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = readStat(Number(name))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const tree = [root];
  for (const pid of tree)
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

/** User and system time of the processes so far. */
export function cpuMs(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readStat(pid);
    ticks += Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  }
  return ticks * TICK_MS;
}

export function memoryOf(pids: readonly number[]): Memory {
  let rss = 0;
  let pss = 0;
  for (const pid of pids) {
    const text = readProcess(pid, "smaps_rollup") ?? "";
    rss += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    pss += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return { rssMib: rss / MIB, pssMib: pss / MIB };
}

/**
 * The fields after the program's name, which may contain anything; undefined when the process is
 * gone.
 */
function readStat(pid: number): string[] | undefined {
  const text = readProcess(pid, "stat");
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Undefined when the process has ended since it was listed. */
function readProcess(pid: number, file: "stat" | "smaps_rollup"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
