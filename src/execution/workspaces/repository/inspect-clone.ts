/**
 * Looks at an agent's clone without trusting it. Its `.git` may hold anything: settings that start
 * programs, links, object stores that are elsewhere. So git looks at it in a sandbox without
 * network, where the workspace cannot be written and nothing of the runner's is in reach, and with
 * a repository of its own beside it: only refs, objects and the index of the agent's `.git` are
 * read. The two commands that name a branch do read its settings; neither starts a program.
 */
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { GitState } from "../workspace.ts";
import { type GitResult, lastWords, runGit } from "./run-git.ts";

/** Exit codes of the scripts. */
const NO_CLONE = 41;
const NO_BRANCH = 42;
const NO_COMMIT = 43;

const MAX_DIRTY = 100;
const MAX_UNPUSHED = 20;
const MAX_STATUS_BYTES = 1_000_000;
const MAX_SUBJECT_CHARS = 200;

/** `$1` is the store that the clone needs. `own` makes git forget the agent's settings. */
const PRELUDE = `[ -d .git ] && [ ! -L .git ] && [ -d .git/objects ] && [ ! -L .git/objects ] || exit ${NO_CLONE}
top=$PWD store=$1
own() {
  mine=$(mktemp -d) && mkdir "$mine/objects" "$mine/refs" && echo "$1" > "$mine/HEAD" || exit
  trap 'rm -rf "$mine"' EXIT
  export GIT_DIR="$mine" GIT_OBJECT_DIRECTORY="$top/.git/objects" GIT_NO_REPLACE_OBJECTS=1
  export GIT_ALTERNATE_OBJECT_DIRECTORIES="$store/objects"
}
known() { git --git-dir="$store" for-each-ref --format='^%(objectname)' refs/heads refs/tags; }
is_id() { case $1 in ''|*[!0-9a-f]*) return 1;; esac; [ "$(git cat-file -t "$1" 2>/dev/null)" = commit ]; }
`;

const FIND_TIP = `tip=$(git --git-dir=.git rev-parse -q --verify "refs/heads/$2") || exit ${NO_BRANCH}
own "$tip"
is_id "$tip" || exit ${NO_COMMIT}
echo "$tip"
{ echo "$tip"; known; } | git rev-list --count --stdin`;

/** A commit's name is its hash, so the inspected commit is the packed one. */
const PACK = `own "$2"
is_id "$2" || exit ${NO_COMMIT}
{ echo "$2"; known; } | git pack-objects --revs --thin --stdout --delta-base-offset -q`;

const HEAD = `git --git-dir=.git symbolic-ref -q HEAD; echo
git --git-dir=.git rev-parse -q --verify HEAD; echo`;

const BASE = `own "$2"
base=\${3:+refs/heads/$3}
base=\${base:-$(git --git-dir="$store" symbolic-ref -q HEAD)}
from=$(git --git-dir="$store" rev-parse -q --verify "$base") || exit 0
echo "$base"
git rev-list --left-right --count "$from...$2"`;

const UNPUSHED = `own "$2"
{ echo "$2"; known; } | git rev-list --stdin --no-commit-header --format='%H %s' -n ${MAX_UNPUSHED + 1}`;

const SUBJECT = `own "$2"
git rev-list --no-commit-header --format=%s -n 1 "$2" --`;

const STATUS = `own "\${2:-ref: refs/heads/none}"
GIT_WORK_TREE=$top GIT_INDEX_FILE=$top/.git/index git --no-optional-locks status --porcelain=v1 -z --no-renames --untracked-files=normal | head -c ${MAX_STATUS_BYTES}`;

export interface BranchTip {
  commit: string;
  /** Number of commits that the repository does not have, as far as the mirror knows. */
  newCommits: number;
}

export type CloneProblem = { problem: string };

export interface CloneView {
  /** Sandbox for looking only. */
  sandbox: Sandbox;
  /** Store of the clone, as seen inside. */
  store: string;
}

export async function findTip(view: CloneView, branch: string): Promise<BranchTip | CloneProblem> {
  const { exitCode, stdout, stderr } = await runInClone(view, FIND_TIP, [branch]);
  const [commit = "", count = ""] = stdout.split("\n");
  if (exitCode === 0 && /^[0-9a-f]{40,64}$/.test(commit))
    return { commit, newCommits: Number(count) || 0 };
  return { problem: problemOf(exitCode, stderr, branch) };
}

/** Packs the commit with all objects that the store does not have, to the standard output. */
export function packCommit({ sandbox, store }: CloneView, commit: string, env: GitEnv) {
  const argv = ["/bin/sh", "-c", PRELUDE + PACK, "sh", store, commit];
  return sandbox.run({ argv, env });
}
type GitEnv = Readonly<Record<string, string>>;

export async function readState(
  view: CloneView,
  base: string | null,
): Promise<GitState | CloneProblem> {
  const found = await runInClone(view, HEAD, []);
  if (found.exitCode === NO_CLONE) return { problem: problemOf(NO_CLONE, "", "") };
  const [ref = "", , id = ""] = found.stdout.split("\n");
  const head = /^[0-9a-f]{40,64}$/.test(id) ? id : (/^[0-9a-f]{40,64}$/.exec(ref)?.[0] ?? "");
  const ofHead = async (script: string, ...args: string[]) =>
    head === "" ? "" : (await runInClone(view, script, [head, ...args])).stdout;
  const [subject, distance, unpushed, status] = await Promise.all([
    ofHead(SUBJECT),
    ofHead(BASE, base ?? ""),
    ofHead(UNPUSHED),
    runInClone(view, STATUS, [head]).then(({ stdout }) => stdout),
  ]);
  const dirty = status.split("\0").filter(Boolean).map(readable);
  const commits = unpushed.split("\n").filter(Boolean).map(commitOf);
  return {
    branch: ref.startsWith("refs/heads/") ? readable(ref.slice("refs/heads/".length)) : null,
    head: head === "" ? null : { id: head, subject: readable(subject.trim()) },
    base: baseOf(distance),
    dirty: dirty.slice(0, MAX_DIRTY),
    moreDirty: Math.max(0, dirty.length - MAX_DIRTY),
    unpushed: commits.slice(0, MAX_UNPUSHED),
    moreUnpushed: commits.length > MAX_UNPUSHED,
  };
}

function runInClone(
  { sandbox, store }: CloneView,
  script: string,
  args: readonly string[],
): Promise<GitResult> {
  return runGit(sandbox, { script: PRELUDE + script, args: [store, ...args] });
}

function baseOf(text: string): GitState["base"] {
  const [ref = "", counts = ""] = text.split("\n");
  const [behind, ahead] = counts.split("\t").map(Number);
  if (!ref.startsWith("refs/heads/") || behind === undefined || ahead === undefined) return null;
  return { branch: readable(ref.slice("refs/heads/".length)), ahead, behind };
}

function commitOf(line: string): { id: string; subject: string } {
  const space = line.indexOf(" ");
  return { id: line.slice(0, space), subject: readable(line.slice(space + 1)) };
}

/** Git's bytes as text on one line. */
function readable(bytes: string): string {
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, MAX_SUBJECT_CHARS);
}

function problemOf(exitCode: number | null, stderr: string, branch: string): string {
  if (exitCode === NO_CLONE)
    return "The workspace's .git folder was replaced, so it is not read. Restore it, or start a new session.";
  if (exitCode === NO_BRANCH)
    return `The workspace has no branch ${branch}. Commit on it first, or name another.`;
  if (exitCode === NO_COMMIT) return `The branch ${branch} has no commit. Commit on it first.`;
  return `Git could not read the workspace: ${lastWords(stderr) || "no reason given"}.`;
}
