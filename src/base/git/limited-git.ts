/**
 * Runs git outside of any sandbox, on folders of our own, and limits what a stranger's server can
 * make it cost: file size, memory, time and output. When git ends or is killed, so is every process
 * it started.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

export interface GitLimits {
  /** Size of the largest file git may write. A fetched pack is one file. */
  fileBytes: number;
  memoryBytes: number;
}

export interface LimitedGitCall {
  args: readonly string[];
  cwd: string;
  /** The whole environment, with the PATH that git is found in. */
  env: Readonly<Record<string, string>>;
  limits: GitLimits;
  /** Limit of standard output; git is killed when it writes more. */
  maxBytes: number;
  stdin?: string | undefined;
  /** Text that can be read once from descriptor 3. */
  pipe?: string | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface LimitedGitResult {
  /** Null if git was killed; `GIT_NOT_FOUND` if git is not installed. */
  exitCode: number | null;
  stdout: Buffer;
  stderr: string;
  ended: "itself" | "time" | "signal" | "size";
}

/** Exit code of a shell that does not find the program. */
export const GIT_NOT_FOUND = 127;
const MAX_ERROR_BYTES = 64 * 1024;
/** The unit of `ulimit -f` in a POSIX shell. */
const BLOCK_BYTES = 512;

/**
 * A shell sets the limits, and every program that git starts inherits them. Limits that a system
 * does not know are skipped.
 */
const LIMITED_GIT_SCRIPT =
  'ulimit -f "$1" 2>/dev/null; ulimit -v "$2" 2>/dev/null; ulimit -c 0 2>/dev/null; shift 2; exec git "$@"';

/** Settings that keep git below the limits where it can be told to. */
export const LIMITED_SETTINGS: Readonly<Record<string, string>> = {
  // Always store a pack: one file, whose size the system limits.
  "fetch.unpackLimit": "1",
  "core.packedGitWindowSize": "32m",
  "core.packedGitLimit": "256m",
  "transfer.bundleURI": "false",
};

export async function runLimitedGit(call: LimitedGitCall): Promise<LimitedGitResult> {
  const { fileBytes, memoryBytes } = call.limits;
  const limits = [Math.ceil(fileBytes / BLOCK_BYTES), Math.ceil(memoryBytes / 1024)].map(String);
  const child = spawn("/bin/sh", ["-c", LIMITED_GIT_SCRIPT, "sh", ...limits, ...call.args], {
    cwd: call.cwd,
    env: call.env,
    stdio: ["pipe", "pipe", "pipe", call.pipe === undefined ? "ignore" : "pipe"],
    // A process group of its own: what git has started must not outlive git.
    detached: true,
  });
  let ended: LimitedGitResult["ended"] = "itself";
  const end = (why: LimitedGitResult["ended"]) => {
    if (ended === "itself") ended = why;
    killGroup(child);
  };
  const onSignal = () => end("signal");
  const timer = call.timeoutMs === undefined ? undefined : setTimeout(end, call.timeoutMs, "time");
  call.signal?.addEventListener("abort", onSignal, { once: true });
  if (call.signal?.aborted) onSignal();
  const [, out, err, pipe] = child.stdio;
  const stdout = collect(out as NodeJS.ReadableStream, call.maxBytes, () => end("size"));
  const stderr = collect(err as NodeJS.ReadableStream, MAX_ERROR_BYTES, () => {});
  writeTo(child.stdin as Writable, call.stdin ?? "");
  if (call.pipe !== undefined) writeTo(pipe as Writable, call.pipe);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { exitCode, stdout: stdout(), stderr: stderr().toString("utf8"), ended };
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener("abort", onSignal);
    killGroup(child);
  }
}

/** Git may close the stream before it has read everything. */
function writeTo(stream: Writable, text: string): void {
  stream.on("error", () => {});
  stream.end(text);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}

/** Keeps the first `maxBytes`, but reads to the end: git would block on a full pipe. */
function collect(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  onTooMuch: () => void,
): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size > maxBytes) return;
    size += chunk.length;
    if (size > maxBytes) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}

const LIMIT_ERROR = /invalid index-pack output|signal 25\b|File too large|out of memory/i;

/** True for the ways in which git reports that a limit stopped the program that stores a pack. */
export function isLimitError(stderr: string): boolean {
  return LIMIT_ERROR.test(stderr);
}
