/**
 * Makes a clone for a session. All clones of one address share a store of objects in the runner's
 * folder (a mirror), which only the runner's own git writes; sandboxes see it read-only. Nothing is
 * ever pruned from it, because clones and their records rest on it.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "#base/refusal.ts";
import type { Sandbox, SandboxLimits, SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { type FolderRules, holdProjectFolder } from "./check-project-folder.ts";
import type { HeldFolder } from "./held-folder.ts";
import type { Repository } from "./parse-repository.ts";
import { type GitResult, lastWords, runGit } from "./run-git.ts";

export const INSIDE = "/muster";
const CLONE_TIMEOUT_MS = 15 * 60_000;

export interface CloneOptions {
  provider: SandboxProvider;
  limits: SandboxLimits;
  mirrorsFolder: string;
  folderRules: FolderRules;
}

export interface Cloned {
  /** What the clone begins with; null for a repository without commits. */
  commit: string | null;
  mirror: string;
}

export interface CloneWish {
  repository: Repository;
  branch: string | null;
  newBranch: string;
  workFolder: string;
  scratchFolder: string;
}

export async function cloneRepository(options: CloneOptions, wish: CloneWish): Promise<Cloned> {
  const source = findSource(wish.repository, options.folderRules);
  try {
    const mirror = `${createHash("sha256").update(source.url).digest("hex").slice(0, 32)}.git`;
    await updateMirror(options, wish, source, mirror);
    return { commit: await checkOut(options, wish, source, mirror), mirror };
  } finally {
    source.held?.close();
  }
}

/** Where commands see a mirror: at the same place in every sandbox, so that clones find it. */
export function mirrorMount(provider: SandboxProvider, mirrorsFolder: string, mirror: string) {
  const from = join(mirrorsFolder, mirror);
  return { from, to: provider.kind === "local" ? from : `${INSIDE}/mirrors/${mirror}` };
}

interface Source {
  /** As people write it. */
  url: string;
  host: string | null;
  /** Of this machine. */
  held: HeldFolder | null;
}

/** What may be cloned may be worked in, and the other way round. */
function findSource(repository: Repository, rules: FolderRules): Source {
  if (repository.kind === "web") {
    return { url: repository.url, host: repository.host, held: null };
  }
  const held = holdProjectFolder(repository.path, rules);
  return { url: held.path, host: null, held };
}

/** Only branches and tags; the default branch is the remote's. */
const UPDATE = `set -e
[ -f HEAD ] || git init -q --bare --template= .
head=$(git ls-remote --symref -- "$1" HEAD | sed -n 's/^ref: \\(refs\\/heads\\/[^\\t]*\\)\\tHEAD$/\\1/p')
git fetch -q --force --prune --no-tags --no-recurse-submodules --no-write-fetch-head -- "$1" \\
  '+refs/heads/*:refs/heads/*' '+refs/tags/*:refs/tags/*'
[ -z "$head" ] || git symbolic-ref HEAD "$head"`;

async function updateMirror(
  { provider, limits, mirrorsFolder }: CloneOptions,
  { scratchFolder }: CloneWish,
  { url, host, held }: Source,
  mirror: string,
): Promise<void> {
  const workspaceFolder = join(mirrorsFolder, mirror);
  mkdirSync(workspaceFolder, { recursive: true, mode: 0o700 });
  const at = held === null || provider.kind === "local" ? url : `${INSIDE}/source`;
  const sandbox = await provider.open({
    workspaceFolder,
    scratchFolder,
    limits,
    allowedHosts: host === null ? [] : [host],
    ...(held && {
      readOnly: [{ from: held.path, to: `${INSIDE}/source`, identity: held.identity }],
    }),
  });
  await within(sandbox, async () => {
    held?.check();
    const call = { script: UPDATE, args: [at], timeoutMs: CLONE_TIMEOUT_MS };
    check(await runGit(sandbox, call), at, url);
  });
}

const CHECK_OUT = `set -e
if git --git-dir="$1" rev-parse -q --verify HEAD >/dev/null || [ -n "$3" ]; then
  git clone -q --shared --no-tags --template= \${3:+--branch "$3"} -- "$1" .
  git checkout -q -b "$4"
  git rev-parse HEAD
else
  git init -q --template= .
  git remote add origin "$2"
  git symbolic-ref HEAD "refs/heads/$4"
fi
git remote set-url origin "$2"`;

async function checkOut(
  { provider, limits, mirrorsFolder }: CloneOptions,
  { workFolder, scratchFolder, branch, newBranch }: CloneWish,
  { url }: Source,
  mirror: string,
): Promise<string | null> {
  const mount = mirrorMount(provider, mirrorsFolder, mirror);
  const sandbox = await provider.open({
    workspaceFolder: workFolder,
    scratchFolder,
    limits,
    allowedHosts: [],
    readOnly: [mount],
  });
  return within(sandbox, async () => {
    const args = [mount.to, url, branch ?? "", newBranch];
    const result = await runGit(sandbox, {
      script: CHECK_OUT,
      args,
      timeoutMs: CLONE_TIMEOUT_MS,
    });
    check(result, mount.to, url);
    return result.stdout.trim() || null;
  });
}

async function within<T>(sandbox: Sandbox, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await sandbox.close();
  }
}

function check({ exitCode, stderr }: GitResult, inside: string, url: string): void {
  if (exitCode === 0) return;
  if (exitCode === 127) {
    throw failed("Git is not installed on the runner's machine. Install it (apt-get install git).");
  }
  const said = lastWords(stderr).replaceAll(inside, url);
  throw failed(
    `The repository could not be cloned: ${said || "git said nothing"}. ` +
      "Check its address and branch, and that it can be read without a password.",
  );
}

function failed(text: string): Refusal {
  return new Refusal("unavailable", "workspace_clone_failed", text);
}
