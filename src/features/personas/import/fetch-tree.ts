/**
 * The only place where the server runs git. It fetches one commit into a bare repository in a temporary
 * folder and reads from it; nothing is ever checked out, so no link, hook, filter or submodule of a
 * foreign repository has an effect here. Time, disk space and memory are limited.
 */
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitEnv, lastErrorLines } from "#base/git/git-env.ts";
import {
  GIT_NOT_FOUND,
  isLimitError,
  LIMITED_SETTINGS,
  type LimitedGitResult,
  runLimitedGit,
} from "#base/git/limited-git.ts";
import { Refusal } from "#base/refusal.ts";
import { pinFor, type SkillAddress } from "./skill-address.ts";

export interface TreeEntry {
  /** File mode of git: `100644`, `120000` for a link, `160000` for another repository. */
  mode: string;
  object: string;
  /** Null for an entry that is no file. */
  bytes: number | null;
  /** Path below the requested folder. */
  path: string;
}

export interface FetchedTree {
  commit: string;
  entries: TreeEntry[];
  /** Reads objects in their order; the caller has checked their sizes. */
  read(objects: readonly string[]): Promise<Buffer[]>;
}

export interface FetchOptions {
  /** PATH in which programs are found. */
  searchPath: string;
  /** Parent of temporary folders; default: the system's. */
  parent?: string;
  timeoutMs?: number;
  maxPackBytes?: number;
}

const TIMEOUT_MS = 30_000;
const MAX_PACK_BYTES = 64 * 1024 ** 2;
const MAX_MEMORY_BYTES = 1024 ** 3;
const MAX_LIST_BYTES = 16 * 1024 ** 2;
const MAX_READ_BYTES = 8 * 1024 ** 2;
const MAX_WORD_BYTES = 64 * 1024;
const HEAD = "refs/import/head";
const FOLDER = "muster-skills-";
/** Age of an abandoned folder. No import takes so long, so its server was killed. */
const LEFT_BEHIND_MS = 10 * 60_000;

/** Fetches a tree and passes it to `use`. The files exist only until `use` has ended. */
export async function withFetchedTree<T>(
  address: SkillAddress,
  ip: string,
  options: FetchOptions,
  use: (tree: FetchedTree) => Promise<T>,
): Promise<T> {
  const { searchPath, parent = tmpdir(), maxPackBytes = MAX_PACK_BYTES } = options;
  await clearLeftBehind(parent);
  const folder = await mkdtemp(join(parent, FOLDER));
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const env = { ...environmentFor(address, ip), PATH: searchPath };
  const limits = { fileBytes: maxPackBytes, memoryBytes: MAX_MEMORY_BYTES };
  const git = (args: readonly string[], call: { maxBytes?: number; stdin?: string } = {}) =>
    runLimitedGit({ args, cwd: folder, env, signal, limits, maxBytes: MAX_WORD_BYTES, ...call });
  try {
    await must(git(["init", "--quiet", "--bare", "--template=", "."]), "init", address);
    const wanted = `+${address.ref ?? "HEAD"}:${HEAD}`;
    const fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
    await must(git([...fetch, "--", address.url, wanted]), "fetch", address);
    const commit = await commitOf(git(["rev-parse", "--verify", `${HEAD}^{commit}`]), address);
    const tree = `${commit}:${address.path}`;
    const list = await git(["ls-tree", "-r", "-z", "-l", tree], { maxBytes: MAX_LIST_BYTES });
    const isThere = list.ended !== "itself" || list.exitCode === 0;
    if (!isThere && address.path !== "") throw noSuchFolder(address.path);
    return await use({
      commit,
      entries: entriesIn((await must(list, "read", address)).toString("utf8")),
      async read(objects) {
        const stdin = objects.map((object) => `${object}\n`).join("");
        const output = git(["cat-file", "--batch"], { maxBytes: MAX_READ_BYTES, stdin });
        return blobsIn(await must(output, "read", address), objects.length);
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes abandoned folders. Those of other users stay; a failure must not stop an import. */
async function clearLeftBehind(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(FOLDER))) {
    const path = join(parent, name);
    const stats = await lstat(path).catch(() => undefined);
    if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) continue;
    if (Date.now() - stats.mtimeMs < LEFT_BEHIND_MS) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** Resolves the commit. A ref may name anything, such as a tree or a blob. */
async function commitOf(result: Promise<LimitedGitResult>, address: SkillAddress): Promise<string> {
  const end = await result;
  if (end.ended === "itself" && end.exitCode !== 0) throw noCommit(address);
  return (await must(end, "read", address)).toString("utf8").trim();
}

function environmentFor(address: SkillAddress, ip: string): Record<string, string> {
  const pin = pinFor(address, ip);
  return gitEnv({
    protocols: [address.protocol],
    settings: {
      // A redirect could lead to an address that was not checked.
      "http.followRedirects": "false",
      "http.proxy": "",
      ...(pin === undefined ? {} : { "http.curloptResolve": pin }),
      "http.lowSpeedLimit": "100",
      "http.lowSpeedTime": "10",
      "credential.helper": "",
      ...LIMITED_SETTINGS,
      "core.bigFileThreshold": "1m",
      "pack.threads": "1",
    },
  });
}

type Step = "init" | "fetch" | "read";

async function must(
  result: LimitedGitResult | Promise<LimitedGitResult>,
  step: Step,
  address: SkillAddress,
): Promise<Buffer> {
  const { exitCode, stdout, stderr, ended } = await result;
  if (ended === "signal")
    throw new Refusal(
      "unavailable",
      "import_timed_out",
      "Fetching the repository took too long. Try again, or add the skill from a folder.",
    );
  if (ended === "size" || isLimitError(stderr))
    throw new Refusal(
      "too_large",
      "import_too_large",
      `The repository is too large: one commit may have ${MAX_PACK_BYTES / 1024 ** 2} MiB, packed. Add the skill from a folder instead.`,
    );
  if (exitCode === 0) return stdout;
  if (exitCode === GIT_NOT_FOUND)
    throw new Refusal(
      "unavailable",
      "git_missing",
      "Git is not installed on the server's machine, and it is needed to fetch skills. Install it, or add the skill from a folder.",
    );
  if (step === "fetch") throw notFetched(address, stderr);
  throw new Error(`git failed to ${step}: ${lastErrorLines(stderr)}`);
}

function notFetched({ url, ref }: SkillAddress, stderr: string): Refusal {
  const what = ref === null ? url : `${ref} of ${url}`;
  return new Refusal(
    "invalid",
    "import_failed",
    `${what} cannot be fetched without credentials: ${lastErrorLines(stderr)}. Check the address and the ref; add skills of a private repository from a folder.`,
  );
}

function noCommit({ ref }: SkillAddress): Refusal {
  return new Refusal(
    "invalid",
    "ref_invalid",
    `${ref ?? "The repository's default branch"} is not a commit. ref must be the name of a branch or a tag, or a commit.`,
  );
}

function noSuchFolder(path: string): Refusal {
  return new Refusal(
    "invalid",
    "path_invalid",
    `There is no folder ${path} in the repository. Check its spelling.`,
  );
}

/** Parses `<mode> <type> <object> <size>\t<path>`, each ended by a zero byte. */
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

/** Parses `<object> blob <size>\n<bytes>\n`, one after the other. */
function blobsIn(output: Buffer, count: number): Buffer[] {
  const blobs: Buffer[] = [];
  let at = 0;
  for (let n = 0; n < count; n++) {
    const lineEnd = output.indexOf(10, at);
    const size = / blob (\d+)$/.exec(output.toString("latin1", at, lineEnd))?.[1];
    if (lineEnd < 0 || size === undefined)
      throw new Error("git did not give a file that it listed");
    blobs.push(output.subarray(lineEnd + 1, lineEnd + 1 + Number(size)));
    at = lineEnd + 1 + Number(size) + 1;
  }
  return blobs;
}
