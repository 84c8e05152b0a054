/**
 * Covers open files that this process was itself started with and that every child would inherit,
 * such as a pipe of the program that started the runner. Node marks its own as not to be inherited,
 * but not these. A command then finds `/dev/null` in their place.
 */
import type { StdioOptions } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

type Stdio = Extract<StdioOptions, unknown[]>;

let covered: Stdio | undefined;

/** Adds covers for all other descriptors to `own`. */
export function coverInherited(own: Stdio): Stdio {
  covered ??= findCovers();
  return covered.map((entry, fd) => own[fd] ?? entry).concat(own.slice(covered.length));
}

/** Looked for once: files opened later are not inherited. */
function findCovers(): Stdio {
  const inherited = listInherited();
  const none = inherited.length > 0 ? openSync("/dev/null", "r+") : undefined;
  const highest = Math.max(2, ...inherited);
  return Array.from({ length: highest + 1 }, (_, fd) => (inherited.includes(fd) ? none : "ignore"));
}

function listInherited(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((fd) => fd > 2 && isInherited(fd));
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // The descriptor that listed the folder.
  }
}
