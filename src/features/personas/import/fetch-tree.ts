/**
 * The only place where the server runs git. It fetches one commit into a bare repository in a folder
 * of its own and reads from it; nothing is ever checked out, so no link, hook, filter or submodule
 * of a stranger's repository means anything here. What a stranger can make it cost is bounded: time,
 * bytes on the disk, memory.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitEnv, lastWords } from "#base/git-env.ts";
import { Refusal } from "#base/refusal.ts";
import { pinFor, type SkillAddress } from "./skill-address.ts";

export interface TreeEntry {
  /** As git writes it: `100644`, `120000` for a link, `160000` for another repository. */
  mode: string;
  object: string;
  /** Null for what is no file. */
  bytes: number | null;
  /** Below the folder that was asked for. */
  path: string;
}

export interface FetchedTree {
  commit: string;
  entries: TreeEntry[];
  /** In the order of the objects; the caller has looked at their sizes. */
  read(objects: readonly string[]): Promise<Buffer[]>;
}

export interface FetchOptions {
  /** Where programs are found. */
  searchPath: string;
  /** Where folders are made for a while; the system's own place if not said. */
  parent?: string;
  timeoutMs?: number;
  maxPackBytes?: number;
}

const TIMEOUT_MS = 30_000;
const MAX_PACK_BYTES = 64 * 1024 ** 2;
const MAX_MEMORY_BYTES = 1024 ** 3;
const MAX_LIST_BYTES = 16 * 1024 ** 2;
const MAX_READ_BYTES = 8 * 1024 ** 2;
const MAX_ERROR_BYTES = 64 * 1024;
const HEAD = "refs/import/head";

/** What is fetched is there only until `use` has ended. */
export async function withFetchedTree<T>(
  address: SkillAddress,
  ip: string,
  options: FetchOptions,
  use: (tree: FetchedTree) => Promise<T>,
): Promise<T> {
  const { searchPath, parent = tmpdir(), maxPackBytes = MAX_PACK_BYTES } = options;
  const folder = await mkdtemp(join(parent, "muster-skills-"));
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const env = { ...environmentFor(address, ip), PATH: searchPath };
  const git = (args: readonly string[], call: { maxBytes?: number; stdin?: string } = {}) =>
    runGit(args, { folder, env, signal, maxPackBytes, maxBytes: MAX_ERROR_BYTES, ...call });
  try {
    await must(git(["init", "--quiet", "--bare", "--template=", "."]), "init", address);
    const wanted = `+${address.ref ?? "HEAD"}:${HEAD}`;
    const fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
    await must(git([...fetch, "--", address.url, wanted]), "fetch", address);
    const commit = await must(git(["rev-parse", "--verify", `${HEAD}^{commit}`]), "read", address);
    const tree = `${commit.toString("utf8").trim()}:${address.path}`;
    const list = await git(["ls-tree", "-r", "-z", "-l", tree], { maxBytes: MAX_LIST_BYTES });
    if (list.code !== 0 && address.path !== "") throw noSuchFolder(address.path);
    return await use({
      commit: commit.toString("utf8").trim(),
      entries: entriesIn((await must(list, "read", address)).toString("utf8")),
      async read(objects) {
        const stdin = objects.map((object) => `${object}\n`).join("");
        const said = git(["cat-file", "--batch"], { maxBytes: MAX_READ_BYTES, stdin });
        return blobsIn(await must(said, "read", address), objects.length);
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function environmentFor(address: SkillAddress, ip: string): Record<string, string> {
  const pin = pinFor(address, ip);
  return gitEnv({
    protocols: [address.protocol],
    settings: {
      // It could lead to an address that nobody has checked.
      "http.followRedirects": "false",
      "http.proxy": "",
      ...(pin === undefined ? {} : { "http.curloptResolve": pin }),
      "http.lowSpeedLimit": "100",
      "http.lowSpeedTime": "10",
      "credential.helper": "",
      "transfer.bundleURI": "false",
      // Always a pack: one file, whose size the system bounds.
      "fetch.unpackLimit": "1",
      "core.bigFileThreshold": "1m",
      "pack.threads": "1",
    },
  });
}

interface GitCall {
  folder: string;
  env: Record<string, string>;
  signal: AbortSignal;
  maxPackBytes: number;
  maxBytes: number;
  stdin?: string;
}

interface GitAnswer {
  code: number | null;
  stdout: Buffer;
  stderr: string;
  ended: "itself" | "time" | "size";
}

/** A shell sets the limits, which every program that git starts inherits. Not all systems know all. */
const LIMITED =
  'ulimit -f "$1" 2>/dev/null; ulimit -v "$2" 2>/dev/null; ulimit -c 0 2>/dev/null; shift 2; exec git "$@"';

async function runGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
  const limits = [call.maxPackBytes / 512, MAX_MEMORY_BYTES / 1024].map(String);
  const child = spawn("/bin/sh", ["-c", LIMITED, "sh", ...limits, ...args], {
    cwd: call.folder,
    env: call.env,
    stdio: ["pipe", "pipe", "pipe"],
    // Its own group: what git has started must not outlive it.
    detached: true,
  });
  let ended: GitAnswer["ended"] = "itself";
  const end = (why: GitAnswer["ended"]) => {
    ended = why;
    killGroup(child);
  };
  const onTime = () => end("time");
  call.signal.addEventListener("abort", onTime, { once: true });
  if (call.signal.aborted) onTime();
  const stdout = collect(child.stdout, call.maxBytes, () => end("size"));
  const stderr = collect(child.stderr, MAX_ERROR_BYTES, () => {});
  child.stdin.on("error", () => {});
  child.stdin.end(call.stdin ?? "");
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, stdout: stdout(), stderr: stderr().toString("utf8"), ended };
  } finally {
    call.signal.removeEventListener("abort", onTime);
    killGroup(child);
  }
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

type Step = "init" | "fetch" | "read";

async function must(
  answer: GitAnswer | Promise<GitAnswer>,
  step: Step,
  address: SkillAddress,
): Promise<Buffer> {
  const { code, stdout, stderr, ended } = await answer;
  if (ended === "time")
    throw new Refusal(
      "unavailable",
      "import_timed_out",
      "Fetching the repository took too long. Try again, or take the skill from a folder.",
    );
  // The system ended the program that keeps what comes; git tells it in one of these ways.
  if (ended === "size" || CUT_OFF.test(stderr))
    throw new Refusal(
      "too_large",
      "import_too_large",
      `The repository is too large: one commit of it may have ${MAX_PACK_BYTES / 1024 ** 2} MiB, packed. Take the skill from a folder instead.`,
    );
  if (code === 0) return stdout;
  if (code === 127)
    throw new Refusal(
      "unavailable",
      "git_missing",
      "The server's machine has no git, which fetches skills. Install it, or take the skill from a folder.",
    );
  if (step === "fetch") throw notFetched(address, stderr);
  throw new Error(`git failed to ${step}: ${lastWords(stderr)}`);
}

function notFetched({ url, ref }: SkillAddress, stderr: string): Refusal {
  const what = ref === null ? url : `${ref} of ${url}`;
  return new Refusal(
    "invalid",
    "import_failed",
    `${what} cannot be fetched without credentials: ${lastWords(stderr)}. Check the address and the ref; a private repository is taken from a folder.`,
  );
}

function noSuchFolder(path: string): Refusal {
  return new Refusal(
    "invalid",
    "path_invalid",
    `There is no folder ${path} in the repository. Check its spelling.`,
  );
}

/** `<mode> <type> <object> <size>\t<path>`, each ended by a zero byte. */
function entriesIn(list: string): TreeEntry[] {
  return list
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [head = "", path = ""] = splitOnce(line, "\t");
      const [mode = "", , object = "", size = ""] = head.split(/ +/);
      return { mode, object, bytes: /^\d+$/.test(size) ? Number(size) : null, path };
    });
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `<object> blob <size>\n<bytes>\n`, one after the other. */
function blobsIn(said: Buffer, count: number): Buffer[] {
  const blobs: Buffer[] = [];
  let at = 0;
  for (let n = 0; n < count; n++) {
    const lineEnd = said.indexOf(10, at);
    const size = / blob (\d+)$/.exec(said.toString("latin1", at, lineEnd))?.[1];
    if (lineEnd < 0 || size === undefined)
      throw new Error("git did not give a file that it listed");
    blobs.push(said.subarray(lineEnd + 1, lineEnd + 1 + Number(size)));
    at = lineEnd + 1 + Number(size) + 1;
  }
  return blobs;
}
