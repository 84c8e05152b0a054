/**
 * Snapshots of a workspace: a git repository of the runner's own, which no agent can see, with the
 * workspace as its work tree. Each snapshot is a commit on a hidden ref. The agent's own `.git`,
 * its settings and hooks are not used.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import { createYieldingQueue } from "../queue.ts";
import {
  type GitResult,
  type GitScript,
  lastWords,
  runGit,
  runGitWithList,
} from "../repository/run-git.ts";
import { clearDrafts, listSnapshotFiles, planPacking, readPackedRef } from "./pack-snapshots.ts";
import { parseChanges } from "./parse-changes.ts";

export interface SnapshotStoreOptions {
  /** Folders on the machine. */
  folder: string;
  workFolder: string;
  /** The same two folders, as seen inside. */
  insideFolder: string;
  insideWorkFolder: string;
  /** Made when git is first needed. */
  sandbox(): Promise<Sandbox>;
  /** True when the record takes up all it may: then the last state stays the newest. */
  isFull(): boolean;
}

export interface InitialState {
  /** True for an empty workspace, which need not be looked at. */
  isEmpty: boolean;
  /** Folder of a clone's objects, as seen inside the sandbox. */
  alternates: string | null;
  /** First commit of a clone. */
  commit: string | null;
}

export interface SnapshotStore {
  /** Records the initial state. */
  begin(beginning: InitialState): Promise<void>;
  mark(name: string): Promise<void>;
  changes(since: string): Promise<{ turn: WorkspaceChanges; all: WorkspaceChanges }>;
  snapshot(): Promise<void>;
  /**
   * Packs the record if it has become large. Gives up at once when other work is requested, or the
   * signal aborts.
   */
  pack(signal?: AbortSignal): Promise<void>;
}

const LOCK_TRIES = 5;
const LOCK_PAUSE_MS = 100;
const MAX_FILE_BYTES = 10 * 1024 ** 2;
const MAX_NESTED = 50;
const MAX_DIFF_BYTES = 16 * 1024 ** 2;
const OWNER_MAY_READ = 0o400;
const PACK_TIMEOUT_MS = 10 * 60_000;

const BEGINNING = "refs/muster/beginning";
const SNAPSHOT = "refs/muster/snapshot";
/** Git knows this tree without having it. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Also completes a repository whose creation was interrupted. */
const INIT = `(at=$GIT_DIR; unset GIT_DIR GIT_WORK_TREE; git init -q --bare --template= "$at") || exit
if [ -n "$MUSTER_COMMIT" ]; then
  git read-tree "$MUSTER_COMMIT" || exit
  git update-index -q --refresh
fi
`;
const LIST = `git ls-files -t -z --others --modified --deleted --exclude-standard || exit
printf '\\0'
`;
/** Reads `same` when nothing has changed, or else a list of paths to record. */
const RECORD = `read -r word
if [ "$word" = same ]; then now=$1; else
`;
const UPDATE = `git update-index --add --remove --replace -z --stdin || exit \${FAILED:-1}
`;
/** Records nothing new when nothing is different. */
const COMMIT = `tree=$(git write-tree) || exit
if [ -n "$1" ] && [ "$(git rev-parse "$1^{tree}")" = "$tree" ]; then now=$1
else now=$(git commit-tree \${1:+-p "$1"} -m state "$tree") || exit; fi
`;
/**
 * Writes the commit, then the differences from each of the others, each ended by an unguessable
 * word.
 */
const COMPARE = `echo "$now"
end=$2 limit=$3
shift 3
for from; do
  [ "$from" = "$now" ] || git diff-tree -r -M -z --raw --numstat -p --no-ext-diff --no-textconv \\
    --no-color --ignore-submodules=none "$from" "$now" | head -c "$limit"
  printf %s "$end"
done
`;
const UPDATE_FAILED = 3;

/** Contents are kept as they are: no setting in the workspace may convert them. */
const ATTRIBUTES = "* -text !eol -filter -ident -working-tree-encoding\n";
const NO_CHANGES: WorkspaceChanges = { files: [], more: 0, additions: 0, deletions: 0 };

/** Present state, and its differences from each requested one. */
interface Snapshot {
  commit: string;
  changes: WorkspaceChanges[];
}

export function createSnapshotStore(options: SnapshotStoreOptions): SnapshotStore {
  const { folder, workFolder } = options;
  let last: string | undefined;
  let isMade = existsSync(join(folder, "index"));
  /** Tasks run one at a time, because they share an index. */
  const { inTurn, whenFree } = createYieldingQueue();

  const withDirs = <T extends Pick<GitScript, "env">>(call: T) => withFolders(call, options);
  const isFullAt = (parent: string) => isCommit(parent) && options.isFull();
  const git: Git = async (call) => runGit(await options.sandbox(), withDirs(call));

  /** Records the present state, and compares. All in one sandbox, except in odd cases. */
  async function capture(since: readonly string[], initial: Initial = {}): Promise<Snapshot> {
    if (!isMade) prepare(folder, initial.alternates ?? null);
    const parent = last ?? readRef(folder, SNAPSHOT) ?? readRef(folder, BEGINNING) ?? "";
    const end = randomBytes(16).toString("hex");
    const call = {
      args: [parent === EMPTY_TREE ? "" : parent, end, String(MAX_DIFF_BYTES), ...since],
      env: { MUSTER_COMMIT: initial.commit ?? "", FAILED: String(UPDATE_FAILED) },
      maxBytes: (since.length + 1) * MAX_DIFF_BYTES,
    };
    let paths: string[] = [];
    const script = `${isMade ? "" : INIT}${LIST}${RECORD}${UPDATE}${COMMIT}fi\n${COMPARE}`;
    let result = await retryPastLocks(folder, async () =>
      runGitWithList(await options.sandbox(), withDirs({ ...call, script }), async (list) => {
        paths = await chooseChanged(git, list, workFolder);
        const isSame = (paths.length === 0 && last !== undefined) || isFullAt(parent);
        return Buffer.concat([Buffer.from(isSame ? "same\n" : "new\n"), encodePaths(paths)]);
      }),
    );
    if (result.exitCode === UPDATE_FAILED) {
      await updateByHalves(paths);
      result = await git({ ...call, script: COMMIT + COMPARE });
    }
    if (result.exitCode !== 0) throw new Error(`git failed: ${lastWords(result.stderr)}`);
    isMade = true;
    return readState(result.stdout, end, since.length);
  }

  async function record(since: readonly string[] = [], initial?: Initial): Promise<Snapshot> {
    if (!isMade && !initial && readdirSync(workFolder).length === 0) {
      return { commit: EMPTY_TREE, changes: since.map(() => NO_CHANGES) };
    }
    const state = await capture(since, initial);
    if (!/^[0-9a-f]{40,64}$/.test(state.commit))
      throw new Error("git named no commit for the present state");
    last = state.commit;
    return state;
  }

  /** A path that cannot be read is left out; halving finds it. */
  async function updateByHalves(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { exitCode } = await git({ script: UPDATE, stdin: encodePaths(paths) });
    if (exitCode === 0 || paths.length === 1) return;
    const middle = paths.length >> 1;
    await updateByHalves(paths.slice(0, middle));
    await updateByHalves(paths.slice(middle));
  }

  return {
    // Packing can be done later, so it yields to a turn.
    pack: (stop) => whenFree(async (own) => (isMade ? pack(folder, git, [own, stop]) : undefined)),
    begin: (beginning) =>
      inTurn(async () => {
        const state = beginning.isEmpty ? { commit: EMPTY_TREE } : await record([], beginning);
        writeRef(folder, BEGINNING, state.commit);
      }),
    mark: (name) =>
      inTurn(async () => {
        // A resumed turn began where its first attempt did.
        if (readRef(folder, refOf(name))) return;
        writeRef(folder, refOf(name), (await record()).commit);
      }),
    snapshot: () =>
      inTurn(async () => {
        writeRef(folder, SNAPSHOT, (await record()).commit);
      }),
    changes: (since) =>
      inTurn(async () => {
        const from = readRef(folder, refOf(since));
        const beginning = readRef(folder, BEGINNING);
        if (!from || !beginning) throw noMark(since);
        const { changes } = await record(from === beginning ? [from] : [beginning, from]);
        const [all = NO_CHANGES, turn = all] = changes;
        return { turn, all };
      }),
  };
}

function withFolders<T extends Pick<GitScript, "env">>(call: T, folders: SnapshotStoreOptions): T {
  const { insideFolder: GIT_DIR, insideWorkFolder: GIT_WORK_TREE } = folders;
  return { ...call, env: { GIT_DIR, GIT_WORK_TREE, GIT_DEFAULT_HASH: "sha1", ...call.env } };
}

/** False for the beginning of a record. */
function isCommit(parent: string): boolean {
  return parent !== "" && parent !== EMPTY_TREE;
}

async function pack(
  folder: string,
  git: Git,
  signals: readonly (AbortSignal | undefined)[],
): Promise<void> {
  const signal = AbortSignal.any(signals.filter((given) => given !== undefined));
  if (signal.aborted) return;
  clearDrafts(folder);
  const plan = planPacking(listSnapshotFiles(folder));
  if (!plan) return;
  const { exitCode, stderr } = await git({ ...plan, signal, timeoutMs: PACK_TIMEOUT_MS });
  if (exitCode !== 0 && !signal.aborted)
    throw new Error(`The record could not be packed: ${lastWords(stderr)}`);
}

/** Only one git at a time is ours; another lock was left by a runner that was killed just now. */
async function retryPastLocks(folder: string, talk: () => Promise<GitResult>): Promise<GitResult> {
  let result = await talk();
  for (let tries = 0; tries < LOCK_TRIES && result.stderr.includes("index.lock"); tries++) {
    await sleep(LOCK_PAUSE_MS);
    clearLocks(folder);
    result = await talk();
  }
  return result;
}

type Git = (call: GitScript) => Promise<GitResult>;
type Initial = Partial<InitialState>;

function readState(output: string, end: string, count: number): Snapshot {
  const firstLine = output.indexOf("\n");
  const parts = output.slice(firstLine + 1).split(end, count);
  return {
    commit: output.slice(0, firstLine),
    changes: parts.map((part) =>
      part ? parseChanges(part, part.length >= MAX_DIFF_BYTES) : NO_CHANGES,
    ),
  };
}

/** Paths to be recorded again: new, changed or gone. */
async function chooseChanged(git: Git, list: string[], workFolder: string): Promise<string[]> {
  const found = new Set<string>();
  const nested: string[] = [];
  for (const word of list) {
    const path = word.slice(2);
    if (path.endsWith("/")) nested.push(path);
    else if (path) found.add(path);
  }
  // A repository in the workspace shows as one entry. Its files are recorded like any others.
  for (let i = 0; i < Math.min(nested.length, MAX_NESTED); i++) {
    const top = nested[i] as string;
    for (const path of await listNested(git, top)) {
      if (path.endsWith("/")) nested.push(top + path);
      else found.add(top + path);
    }
  }
  return [...found].filter((path) => shouldRecord(join(workFolder, "/"), path));
}

async function listNested(git: Git, top: string): Promise<string[]> {
  const { stdout, exitCode } = await git({
    // Without an index, everything counts as new; with this top, its own .git is out of sight.
    script: `cd "$(printf '%b.' "$1")" || exit
GIT_WORK_TREE=$PWD GIT_INDEX_FILE=/nonexistent/index git ls-files -z --others --exclude-standard`,
    args: [octal(top)],
  });
  return exitCode === 0 ? stdout.split("\0").filter(Boolean) : [];
}

/** Names are bytes and arguments are text, so names are passed in octal. */
function octal(bytes: string): string {
  return [...bytes].map((c) => `\\0${c.charCodeAt(0).toString(8).padStart(3, "0")}`).join("");
}

/**
 * A file that is too large or unreadable keeps its earlier state. A missing file is recorded as
 * gone.
 */
function shouldRecord(top: string, path: string): boolean {
  try {
    const stats = lstatSync(Buffer.concat([Buffer.from(top), Buffer.from(path, "latin1")]));
    if (!stats.isFile()) return true;
    return stats.size <= MAX_FILE_BYTES && (stats.mode & OWNER_MAY_READ) !== 0;
  } catch {
    return true;
  }
}

function encodePaths(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}

function prepare(folder: string, alternates: string | null): void {
  mkdirSync(join(folder, "info"), { recursive: true });
  writeFileSync(join(folder, "info/attributes"), ATTRIBUTES);
  if (!alternates) return;
  mkdirSync(join(folder, "objects/info"), { recursive: true });
  writeFileSync(join(folder, "objects/info/alternates"), `${alternates}\n`);
}

/** Removes the lock that a killed run leaves behind. */
export function clearLocks(folder: string): void {
  rmSync(join(folder, "index.lock"), { force: true });
  clearDrafts(folder);
}

function refOf(name: string): string {
  return `refs/muster/marks/${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function readRef(folder: string, ref: string): string | undefined {
  const file = join(folder, ref);
  return existsSync(file) ? readFileSync(file, "utf8").trim() : readPackedRef(folder, ref);
}

function writeRef(folder: string, ref: string, commit: string): void {
  const file = join(folder, ref);
  mkdirSync(dirname(file), { recursive: true });
  // Written whole or not at all: half a ref would spoil the record for good.
  writeFileSync(`${file}.new`, `${commit}\n`, { flush: true });
  renameSync(`${file}.new`, file);
}

function noMark(name: string): Refusal {
  return new Refusal(
    "not_found",
    "mark_not_found",
    `The workspace has no mark ${JSON.stringify(name)}. Ask for the changes of a turn that ran in it.`,
  );
}
