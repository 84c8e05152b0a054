/**
 * Runs git outside of any sandbox, on folders of our own, with bounds on what a stranger's server can
 * make it cost: the size of a file, memory, time, and how much of what it says is kept. When it ends,
 * or is ended, everything it has started is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

export interface GitLimits {
  /** The largest file it may write; what is fetched is one. */
  fileBytes: number;
  memoryBytes: number;
}

export interface LimitedGit {
  args: readonly string[];
  cwd: string;
  /** All of it, with where git is looked for. */
  env: Readonly<Record<string, string>>;
  limits: GitLimits;
  /** Of standard output; more ends it. */
  maxBytes: number;
  stdin?: string | undefined;
  /** What can be read from descriptor 3, once. */
  pipe?: string | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface GitEnd {
  /** Null when it was ended; `NO_GIT` when there is none. */
  exitCode: number | null;
  stdout: Buffer;
  stderr: string;
  ended: "itself" | "time" | "signal" | "size";
}

/** As a shell says it. */
export const NO_GIT = 127;
const MAX_ERROR_BYTES = 64 * 1024;
/** The unit of `ulimit -f` in a POSIX shell. */
const BLOCK_BYTES = 512;

/** A shell sets the limits, which every program that git starts inherits. Not all systems know all. */
const LIMITED =
  'ulimit -f "$1" 2>/dev/null; ulimit -v "$2" 2>/dev/null; ulimit -c 0 2>/dev/null; shift 2; exec git "$@"';

/** So that git keeps to its limits where it can, and does not run into them. */
export const LIMITED_SETTINGS: Readonly<Record<string, string>> = {
  // Always a pack: one file, whose size the system bounds.
  "fetch.unpackLimit": "1",
  "core.packedGitWindowSize": "32m",
  "core.packedGitLimit": "256m",
  "transfer.bundleURI": "false",
};

export async function runLimitedGit(call: LimitedGit): Promise<GitEnd> {
  const { fileBytes, memoryBytes } = call.limits;
  const limits = [Math.ceil(fileBytes / BLOCK_BYTES), Math.ceil(memoryBytes / 1024)].map(String);
  const child = spawn("/bin/sh", ["-c", LIMITED, "sh", ...limits, ...call.args], {
    cwd: call.cwd,
    env: call.env,
    stdio: ["pipe", "pipe", "pipe", call.pipe === undefined ? "ignore" : "pipe"],
    // Its own group: what git has started must not outlive it.
    detached: true,
  });
  let ended: GitEnd["ended"] = "itself";
  const end = (why: GitEnd["ended"]) => {
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
  give(child.stdin as Writable, call.stdin ?? "");
  if (call.pipe !== undefined) give(pipe as Writable, call.pipe);
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

/** Git need not take it. */
function give(stream: Writable, text: string): void {
  stream.on("error", () => {});
  stream.end(text);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

/** Reads to the end in any case, or the program would wait for ever; keeps the beginning. */
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

const CUT_OFF = /invalid index-pack output|signal 25\b|File too large|out of memory/i;

/** The system ended the program that keeps what comes; git tells it in one of these ways. */
export function isCutOff(stderr: string): boolean {
  return CUT_OFF.test(stderr);
}
