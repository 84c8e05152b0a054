/**
 * The record of a workspace's states: a git repository of the runner's own, which no agent can see,
 * with the workspace as its work tree. Each state is a commit on a hidden ref. The agent's own
 * `.git`, its settings and hooks play no part in it.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import { parseChanges } from "./parse-changes.ts";
import { type GitResult, type GitScript, lastWords, runGit } from "./run-git.ts";

export interface KeepOptions {
  /** On the machine. */
  folder: string;
  workFolder: string;
  /** Both as seen inside. */
  insideFolder: string;
  sandbox: Sandbox;
}

export interface Keep {
  /** Makes the repository and records the beginning; `commit` is what a clone begins with. */
  begin(options: { alternates: string | null; commit: string | null }): Promise<void>;
  mark(name: string): Promise<void>;
  changes(since: string): Promise<{ turn: WorkspaceChanges; all: WorkspaceChanges }>;
  snapshot(): Promise<void>;
}

const MAX_FILE_BYTES = 10 * 1024 ** 2;
const MAX_NESTED = 50;
const MAX_DIFF_BYTES = 16 * 1024 ** 2;
const OWNER_MAY_READ = 0o400;

const BEGINNING = "refs/muster/beginning";
const SNAPSHOT = "refs/muster/snapshot";

const UPDATE = "git update-index --add --remove --replace -z --stdin || exit\n";
/** Nothing new is recorded when nothing is different. */
const COMMIT = `tree=$(git write-tree) || exit
if [ -n "$1" ] && [ "$(git rev-parse "$1^{tree}")" = "$tree" ]; then echo "$1"; exit; fi
git commit-tree \${1:+-p "$1"} -m state "$tree"`;

/** Contents are kept as they are: nothing in the workspace may have them converted. */
const ATTRIBUTES = "* -text !eol -filter -ident -working-tree-encoding\n";

export function createKeep(options: KeepOptions): Keep {
  const { folder, sandbox, insideFolder } = options;
  let last: string | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const git = async (call: GitScript): Promise<GitResult> =>
    runGit(sandbox, {
      ...call,
      env: { GIT_DIR: insideFolder, GIT_WORK_TREE: sandbox.workspacePath, ...call.env },
    });

  /** One after the other: they share an index. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };

  async function must(call: GitScript): Promise<string> {
    const result = await git(call);
    if (result.exitCode !== 0) throw new Error(`git failed: ${lastWords(result.stderr)}`);
    return result.stdout;
  }

  /** The commit of the present state. */
  async function record(): Promise<string> {
    const paths = await listChanged(git, options);
    if (paths.length === 0 && last) return last;
    const parent = last ?? readRef(folder, SNAPSHOT) ?? readRef(folder, BEGINNING);
    const call = { script: UPDATE + COMMIT, args: [parent ?? ""], stdin: encodePaths(paths) };
    const { stdout, exitCode } = await git(call);
    if (exitCode === 0) last = stdout.trim();
    else {
      await updateByHalves(paths);
      last = (await must({ script: COMMIT, args: [parent ?? ""] })).trim();
    }
    return last;
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
    begin: ({ alternates, commit }) =>
      inTurn(async () => {
        await must({
          script: 'unset GIT_DIR GIT_WORK_TREE; git init -q --bare --template= "$1"',
          args: [insideFolder],
        });
        prepare(folder, alternates);
        if (commit) await must({ script: 'git read-tree "$1"', args: [commit] });
        if (commit) await git({ script: "git update-index -q --refresh" });
        writeRef(folder, BEGINNING, await record());
      }),
    mark: (name) =>
      inTurn(async () => {
        writeRef(folder, refOf(name), await record());
      }),
    snapshot: () =>
      inTurn(async () => {
        writeRef(folder, SNAPSHOT, await record());
      }),
    changes: (since) =>
      inTurn(async () => {
        const from = readRef(folder, refOf(since));
        const beginning = readRef(folder, BEGINNING);
        if (!from || !beginning) throw noMark(since);
        const now = await record();
        const whole = compare(must, beginning, now);
        const [all, turn] = await Promise.all([
          whole,
          from === beginning ? whole : compare(must, from, now),
        ]);
        return { turn, all };
      }),
  };
}

type Git = (call: GitScript) => Promise<GitResult>;

/** Paths to be looked at again: new, changed or gone. */
async function listChanged(git: Git, { workFolder }: KeepOptions): Promise<string[]> {
  const { stdout, exitCode, stderr } = await git({
    script: "git ls-files -t -z --others --modified --deleted --exclude-standard",
  });
  if (exitCode !== 0) throw new Error(`git failed: ${lastWords(stderr)}`);
  const found = new Set<string>();
  const nested: string[] = [];
  for (const word of stdout.split("\0")) {
    const path = word.slice(2);
    if (path.endsWith("/")) nested.push(path);
    else if (path) found.add(path);
  }
  // A repository in the workspace shows as one entry. Its files are taken like any others.
  for (let i = 0; i < Math.min(nested.length, MAX_NESTED); i++) {
    const top = nested[i] as string;
    for (const path of await listNested(git, top)) {
      if (path.endsWith("/")) nested.push(top + path);
      else found.add(top + path);
    }
  }
  return [...found].filter((path) => isKept(join(workFolder, "/"), path));
}

async function listNested(git: Git, top: string): Promise<string[]> {
  const { stdout, exitCode } = await git({
    // With no index, everything counts as new; with this top, its own .git is out of sight.
    script: `cd "$(printf '%b.' "$1")" || exit
GIT_WORK_TREE=$PWD GIT_INDEX_FILE=/nonexistent/index git ls-files -z --others --exclude-standard`,
    args: [octal(top)],
  });
  return exitCode === 0 ? stdout.split("\0").filter(Boolean) : [];
}

/** Names are bytes and arguments are text, so they travel in octal. */
function octal(bytes: string): string {
  return [...bytes].map((c) => `\\0${c.charCodeAt(0).toString(8).padStart(3, "0")}`).join("");
}

/** Too large or unreadable: its earlier state stays. Gone: to be recorded as gone. */
function isKept(top: string, path: string): boolean {
  try {
    const stats = lstatSync(Buffer.concat([Buffer.from(top), Buffer.from(path, "latin1")]));
    if (!stats.isFile()) return true;
    return stats.size <= MAX_FILE_BYTES && (stats.mode & OWNER_MAY_READ) !== 0;
  } catch {
    return true;
  }
}

async function compare(
  must: (call: GitScript) => Promise<string>,
  from: string,
  to: string,
): Promise<WorkspaceChanges> {
  if (from === to) return { files: [], more: 0, additions: 0, deletions: 0 };
  const script = `git diff-tree -r -M -z --raw --numstat -p --no-ext-diff --no-textconv \\
  --no-color --ignore-submodules=none "$1" "$2" | head -c "$3"`;
  const output = await must({ script, args: [from, to, String(MAX_DIFF_BYTES)] });
  return parseChanges(output, output.length >= MAX_DIFF_BYTES);
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

/** A run that was killed leaves its lock behind. */
export function clearLocks(folder: string): void {
  rmSync(join(folder, "index.lock"), { force: true });
}

function refOf(name: string): string {
  return `refs/muster/marks/${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function readRef(folder: string, ref: string): string | undefined {
  const file = join(folder, ref);
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

function writeRef(folder: string, ref: string, commit: string): void {
  const file = join(folder, ref);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${commit}\n`);
}

function noMark(name: string): Refusal {
  return new Refusal(
    "not_found",
    "mark_not_found",
    `The workspace has no mark ${JSON.stringify(name)}. Ask for the changes of a turn that it made.`,
  );
}
