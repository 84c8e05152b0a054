/**
 * Watches one command from its start until nothing of it is left: kills it on abort, on timeout and
 * when it takes too much, and goes on killing until the containment reports that all are gone. A
 * command that ended by itself is treated alike, because it may have left a daemon behind.
 */
import type { ChildProcess } from "node:child_process";
import type { CommandStreams } from "./pipes.ts";
import type { CommandEnd, SandboxCommand, SandboxProcess } from "./sandbox.ts";

export type KilledBy = NonNullable<CommandEnd["killedBy"]>;

/** Mechanism that holds the processes of a command together. */
export interface Containment {
  /** Sends SIGKILL to everything; called until `isGone`. */
  kill(): void;
  isGone(): boolean;
  /** Reason of an end that was not our own doing, such as by the kernel for its memory. */
  verdict?(): KilledBy | null;
  /**
   * Checked now and then while the command runs; a result kills it. Undefined where limits hold by
   * themselves.
   */
  watch?(): KilledBy | null;
  /** Releases resources, after all processes are gone. */
  release?(): void;
}

const WATCH_EVERY_MS = 200;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;

export function supervise(
  child: ChildProcess,
  streams: CommandStreams,
  containment: Containment,
  { signal, timeoutMs }: Pick<SandboxCommand, "signal" | "timeoutMs">,
): SandboxProcess {
  let killedBy: KilledBy | null = null;
  let said: string | undefined;
  const killFor = (by: KilledBy, why?: string) => {
    if (killedBy === null) said = why;
    killedBy ??= by;
    containment.kill();
  };
  const abort = () => killFor("abort");
  const timer = timeoutMs === undefined ? undefined : setTimeout(killFor, timeoutMs, "timeout");
  const watcher = containment.watch && setInterval(watch, WATCH_EVERY_MS);
  function watch() {
    const why = containment.watch?.();
    if (why) killFor(why);
  }
  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  // A command need not read its input.
  streams.stdin.on("error", () => undefined);

  const ended = exitOf(child).then(async ({ exitCode, exitSignal }): Promise<CommandEnd> => {
    clearTimeout(timer);
    if (killedBy) containment.kill();
    await untilGone(containment);
    clearInterval(watcher);
    signal?.removeEventListener("abort", abort);
    streams.stdin.destroy();
    const why = killedBy ?? (exitCode === 0 ? null : (containment.verdict?.() ?? null));
    containment.release?.();
    if (why)
      return { exitCode: null, signal: "SIGKILL", killedBy: why, ...(said && { why: said }) };
    return { exitCode, signal: exitSignal, killedBy: null };
  });

  return {
    ...streams,
    pid: child.pid,
    ended,
    kill: (by = "abort", why) => killFor(by, why),
  };
}

interface Exit {
  exitCode: number | null;
  exitSignal: string | null;
}

/** Waits for the exit, not for `close`, which waits for a reader to have read everything. */
function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode, exitSignal) => resolve({ exitCode, exitSignal }));
    // The program does not exist or may not be run: 127 is a shell's code for that.
    child.once("error", () => {
      if (child.pid === undefined) resolve({ exitCode: 127, exitSignal: null });
    });
  });
}

async function untilGone(containment: Containment): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!containment.isGone()) {
    containment.kill();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
