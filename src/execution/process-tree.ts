/**
 * Ends a program with everything it started. A process group is not enough: a tool may move its
 * children into a group or session of their own. Each tree therefore carries a mark in its
 * environment, which children inherit, and on Linux everything that has the mark is killed.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

const MARK_NAME = "MUSTER_PROCESS_TREE";
/** A tree that forks while it is being killed is hunted this many times. */
const ROUNDS = 5;

export interface TreeMark {
  readonly name: string;
  readonly value: string;
}

export function createTreeMark(): TreeMark {
  return { name: MARK_NAME, value: randomUUID() };
}

/** Sends `SIGTERM`, or `SIGKILL`, to the group of `leaderPid` and to everything with the mark. */
export function signalTree(leaderPid: number, mark: TreeMark, signal: "SIGTERM" | "SIGKILL"): void {
  trySignal(-leaderPid, signal);
  if (process.platform !== "linux") return;
  for (let round = 0; round < ROUNDS; round++) {
    const pids = findMarked(mark);
    for (const pid of pids) trySignal(pid, signal);
    if (pids.length === 0 || signal === "SIGTERM") return;
  }
}

export function findMarked({ name, value }: TreeMark): number[] {
  const entry = `${name}=${value}`;
  return readdirSync("/proc")
    .filter((folder) => /^\d+$/.test(folder) && readEnvironment(folder).includes(entry))
    .map(Number);
}

function readEnvironment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return ""; // It has ended, or belongs to somebody else.
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended already.
  }
}
