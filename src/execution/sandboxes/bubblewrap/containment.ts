/**
 * Holds a command in its process namespace. Bubblewrap is two processes: the outer is our child,
 * the inner is the first of the namespace. When the first dies the kernel kills all others before
 * it releases it, so everything is gone when it is. The outer may end a little earlier.
 */
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { CommandGroup } from "../control-groups.ts";
import { isDead, measureTree, type ProcessRow, readProcess } from "../process-table.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { Containment } from "../supervise.ts";

/** Time to wait for the pid of bubblewrap's inner process before killing without it. */
const PID_WITHIN_MS = 2000;

export function contain(
  child: ChildProcess,
  info: Readable,
  { group, limits }: { group: CommandGroup | null; limits: SandboxLimits },
): Containment {
  let first: ProcessRow | undefined;
  let isPidKnown = false;
  let killAsked = false;

  const isFirstGone = () => {
    if (!first) return isPidKnown;
    const now = readProcess(first.pid);
    return isDead(now) || now?.startedAt !== first.startedAt;
  };
  const killNow = () => {
    group?.kill();
    if (first && !isFirstGone()) tryKill(first.pid);
    child.kill("SIGKILL");
  };
  const setPid = (pid: number | undefined) => {
    if (isPidKnown) return;
    isPidKnown = true;
    const row = pid === undefined ? undefined : readProcess(pid);
    if (row && !isDead(row)) first = row;
    if (killAsked) killNow();
  };
  readChildPid(info, setPid);
  child.once("error", () => setPid(undefined));

  return {
    kill() {
      // Killed between its two halves, bubblewrap would leave the inner one waiting forever.
      if (isPidKnown || group) return killNow();
      if (!killAsked) setTimeout(() => setPid(undefined), PID_WITHIN_MS).unref();
      killAsked = true;
    },
    isGone: () => isPidKnown && isFirstGone() && (group?.isEmpty() ?? true),
    verdict: () => (group?.ranOutOfMemory() ? "memory" : null),
    release: () => group?.remove(),
    ...(group ? {} : { watch: () => (first ? findExcess(first.pid, limits) : null) }),
  };
}

function findExcess(top: number, limits: SandboxLimits): "memory" | "processes" | null {
  const { processes, memoryBytes } = measureTree(top);
  if (memoryBytes > limits.memoryBytes) return "memory";
  return processes > limits.processes ? "processes" : null;
}

/** Bubblewrap writes one JSON object, as soon as it has made its inner process; or ends without. */
function readChildPid(info: Readable, setPid: (pid: number | undefined) => void): void {
  let text = "";
  info.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    const pid = /"child-pid":\s*(\d+)\s*[,}]/.exec(text)?.[1];
    if (pid) setPid(Number(pid));
  });
  info.on("error", () => setPid(undefined));
  info.on("close", () => setPid(undefined));
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}
