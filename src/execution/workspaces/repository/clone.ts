/**
 * Makes a clone for a session. All clones of one address share a store of objects in the runner's
 * folder (a mirror), which only the runner's own git writes; sandboxes see it read-only. Nothing is
 * ever pruned from it, because clones and their snapshots need it; a mirror that none needs is
 * deleted some days after it was last used (`housekeeping.ts`).
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { GIT_NOT_FOUND } from "#base/git/limited-git.ts";
import { Refusal } from "#base/refusal.ts";
import type { DiskGuard } from "#execution/disk/disk-guard.ts";
import type { Sandbox, SandboxLimits, SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { DISK_LOW, WORKSPACE_FULL } from "#protocol/reports/disk-report.ts";
import type { GitIdentity, RepositoryAccess } from "#protocol/workspaces.ts";
import { type FolderRules, holdProjectFolder } from "../folders/check-project-folder.ts";
import type { HeldFolder } from "../folders/held-folder.ts";
import type { NamedQueues } from "../queue.ts";
import { clearDrafts } from "../snapshots/pack-snapshots.ts";
import {
  adviceFor,
  type CredentialedRemote,
  errorText,
  openRemote,
  runRemoteGit,
} from "./remote-git.ts";
import type { UsableRepository } from "./repository-rules.ts";
import { type GitResult, runGit } from "./run-git.ts";

export const SANDBOX_ROOT = "/muster";
const CLONE_TIMEOUT_MS = 15 * 60_000;
/** Time limit for asking a server what it has; one that does not answer by then will not. */
export const ASK_TIMEOUT_MS = 60_000;

export interface CloneOptions {
  provider: SandboxProvider;
  limits: SandboxLimits;
  mirrorsFolder: string;
  folderRules: FolderRules;
  /** Search path for the runner's own git. */
  path: string;
  /** Ends the runner's own git with the runner. */
  closing: AbortSignal;
  /** Queues by mirror: each is written by one task at a time, and a slow one holds up no other. */
  inTurn: NamedQueues;
  askTimeoutMs?: number | undefined;
  disk: DiskGuard;
}

export interface CloneResult {
  /** First commit of the clone; null for a repository without commits. */
  commit: string | null;
  mirror: string;
}

export interface CloneRequest {
  repository: UsableRepository;
  branch: string | null;
  newBranch: string;
  /** Called when there is something to open, and not before. */
  access(): Promise<RepositoryAccess | null>;
  identity: GitIdentity | null;
  workFolder: string;
  scratchFolder: string;
  /** Stops the clone with the turn that needs it. */
  signal: AbortSignal;
  /** Bytes that the person's other workspaces leave. */
  personLeft(): number;
  /** Called with the name of the mirror before it is fetched. */
  mirrorRequested(mirror: string): void;
}

export async function cloneRepository(
  options: CloneOptions,
  given: CloneRequest,
): Promise<CloneResult> {
  const signal = AbortSignal.any([given.signal, options.closing]);
  const request = { ...given, signal };
  const source = findSource(request.repository, options.folderRules);
  const mirror = mirrorOf(source.url);
  const clone = async () => {
    options.disk.require();
    request.mirrorRequested(mirror);
    touchMirror(options.mirrorsFolder, mirror);
    const remote = source.held ? undefined : openRemote(await request.access(), options.path);
    if (remote) await updateWithCredential(options, mirror, remote, signal);
    else
      await withoutDrafts(join(options.mirrorsFolder, mirror), () =>
        updateMirror(options, request, source, mirror),
      );
    const commit = await checkOut(options, request, source, mirror);
    // Again, because all of it may have taken long: the workspace is not yet known to need the
    // mirror.
    touchMirror(options.mirrorsFolder, mirror);
    return { commit, mirror };
  };
  try {
    return await options.inTurn(mirror, clone, { signal, error: stopped });
  } finally {
    source.held?.close();
  }
}

/** Fetches into a mirror, and leaves no partial packs there: neither its own nor those of a kill. */
async function withoutDrafts(folder: string, fetch: () => Promise<void>): Promise<void> {
  clearDrafts(folder);
  try {
    await fetch();
  } finally {
    clearDrafts(folder);
  }
}

/** Makes the folder of a mirror, and marks it as used. */
function touchMirror(mirrorsFolder: string, mirror: string): void {
  const folder = join(mirrorsFolder, mirror);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = new Date();
  utimesSync(folder, now, now);
}

function stopped(): Refusal {
  return failed("The repository was not cloned: it was stopped.");
}

/** Name of the mirror for a URL. */
export function mirrorOf(url: string): string {
  return `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.git`;
}

/** Mount of a mirror: at the same path in every sandbox, so that clones find it. */
export function mirrorMount(provider: SandboxProvider, mirrorsFolder: string, mirror: string) {
  const from = join(mirrorsFolder, mirror);
  return { from, to: provider.kind === "local" ? from : `${SANDBOX_ROOT}/mirrors/${mirror}` };
}

interface Source {
  /** Address as people write it. */
  url: string;
  host: string | null;
  /** Set for a repository on this machine. */
  held: HeldFolder | null;
}

/** Applies the same rules to cloning from a folder as to working in it. */
function findSource(repository: UsableRepository, rules: FolderRules): Source {
  if (repository.kind === "web") {
    return { url: repository.url, host: repository.host, held: null };
  }
  const held = holdProjectFolder(repository.path, rules);
  return { url: held.path, host: null, held };
}

/** Fetches only branches and tags. */
const REFS = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

const ASK = `set -e
[ -f HEAD ] || git init -q --bare --template= .
git ls-remote --symref -- "$1" HEAD`;

/** Takes the default branch from the remote. */
const UPDATE = `set -e
git fetch -q --force --prune --no-tags --no-recurse-submodules --no-write-fetch-head -- "$1" \\
  ${REFS.map((ref) => `'${ref}'`).join(" ")}
[ -z "$2" ] || git symbolic-ref HEAD "$2"`;

/** Default branch, from the output of `ls-remote --symref`. */
function headIn(listed: string): string | undefined {
  return /^ref: (refs\/heads\/[^\t\n]+)\tHEAD$/m.exec(listed)?.[1];
}

async function updateMirror(
  { provider, limits, mirrorsFolder, disk, askTimeoutMs = ASK_TIMEOUT_MS }: CloneOptions,
  { scratchFolder, signal }: CloneRequest,
  { url, host, held }: Source,
  mirror: string,
): Promise<void> {
  const workspaceFolder = join(mirrorsFolder, mirror);
  const at = held === null || provider.kind === "local" ? url : `${SANDBOX_ROOT}/source`;
  const opened = await provider.open({
    workspaceFolder,
    scratchFolder,
    limits,
    allowedHosts: host === null ? [] : [host],
    ...(held && {
      readOnly: [{ from: held.path, to: `${SANDBOX_ROOT}/source`, identity: held.identity }],
    }),
  });
  // A mirror may become as large as a workspace.
  const meter = disk.openMeter(workspaceFolder, null, { isKept: false });
  await within(meter.watch(opened), async (sandbox) => {
    held?.check();
    // A server's answer must not lead git to a folder of this machine.
    const env = { GIT_ALLOW_PROTOCOL: held === null ? "https:http" : "file" };
    const ask = { script: ASK, args: [at], env, timeoutMs: askTimeoutMs, signal };
    const asked = check("fetch", await runGit(sandbox, ask), at, url);
    const args = [at, headIn(asked) ?? ""];
    const fetch = { script: UPDATE, args, env, timeoutMs: CLONE_TIMEOUT_MS, signal };
    check("fetch", await runGit(sandbox, fetch), at, url);
  });
}

/** Updates a mirror of a repository that a credential opens; see `remote-git.ts`. */
export async function updateWithCredential(
  options: CloneOptions,
  mirror: string,
  remote: CredentialedRemote,
  signal: AbortSignal,
): Promise<void> {
  const folder = join(options.mirrorsFolder, mirror);
  const meter = options.disk.openMeter(folder, null, { isKept: false });
  const fetch = (ended: AbortSignal) => fetchWithCredential(options, folder, remote, ended);
  const refuse = ({ by, why }: NonNullable<GitResult["endedFor"]>) =>
    limitRefusal("fetch", by, why);
  await withoutDrafts(folder, () => meter.watchWork(signal, fetch, refuse));
}

async function fetchWithCredential(
  { limits, askTimeoutMs = ASK_TIMEOUT_MS }: CloneOptions,
  folder: string,
  remote: CredentialedRemote,
  signal: AbortSignal,
): Promise<void> {
  const git = async (timeoutMs: number, ...args: string[]) => {
    const call = { args, env: { GIT_DIR: folder }, limits, timeoutMs, signal };
    const result = await runRemoteGit(remote, call);
    if (result.exitCode !== 0) throw fetchFailed(result, remote);
    return result.stdout;
  };
  const ask = (...args: string[]) => git(askTimeoutMs, ...args);
  if (!existsSync(join(folder, "HEAD"))) await ask("init", "-q", "--bare", "--template=");
  const head = headIn(await ask("ls-remote", "--symref", "--", remote.url, "HEAD"));
  const options = ["-q", "--force", "--prune", "--no-tags", "--no-recurse-submodules"];
  const words = ["fetch", ...options, "--no-write-fetch-head", "--", remote.url, ...REFS];
  await git(CLONE_TIMEOUT_MS, ...words);
  if (head !== undefined) await ask("symbolic-ref", "HEAD", head);
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
git remote set-url origin "$2"
if [ -n "$5" ]; then
  git config user.name "$5"
  git config user.email "$6"
fi`;

async function checkOut(
  { provider, limits, mirrorsFolder, disk }: CloneOptions,
  { workFolder, scratchFolder, branch, newBranch, identity, signal, personLeft }: CloneRequest,
  { url }: Source,
  mirror: string,
): Promise<string | null> {
  const mount = mirrorMount(provider, mirrorsFolder, mirror);
  const opened = await provider.open({
    workspaceFolder: workFolder,
    scratchFolder,
    limits,
    allowedHosts: [],
    readOnly: [mount],
  });
  const meter = disk.openMeter(workFolder, null, { personLeft, isKept: false });
  return within(meter.watch(opened), async (sandbox) => {
    const author = [identity?.name ?? "", identity?.email ?? ""];
    const args = [mount.to, url, branch ?? "", newBranch, ...author];
    const result = await runGit(sandbox, {
      script: CHECK_OUT,
      args,
      timeoutMs: CLONE_TIMEOUT_MS,
      signal,
    });
    return check("checkout", result, mount.to, url).trim() || null;
  });
}

async function within<T>(sandbox: Sandbox, work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

const STEPS = {
  fetch: {
    what: "fetching it",
    hint: "Check its address, and that it can be read without a password. A private repository must be added to the organisation's repositories, with a credential.",
  },
  checkout: { what: "checking it out", hint: "Check the name of the branch." },
} as const;

function check(
  step: keyof typeof STEPS,
  { exitCode, stdout, stderr, endedFor: ended }: GitResult,
  inside: string,
  url: string,
): string {
  if (exitCode === 0) return stdout;
  if (ended) throw limitRefusal(step, ended.by, ended.why);
  if (exitCode === GIT_NOT_FOUND) throw noGit();
  const { what, hint } = STEPS[step];
  const message = errorText(stderr).replaceAll(inside, url) || "git said nothing";
  throw failed(`The repository could not be cloned: ${what} failed: ${message}. ${hint}`);
}

/** A turn waits for room on the disk; waiting does not help a repository that is too large. */
function limitRefusal(step: keyof typeof STEPS, by: "quota" | "disk", why: string): Refusal {
  if (by === "disk") return new Refusal("unavailable", DISK_LOW, why);
  return step === "checkout"
    ? new Refusal("conflict", WORKSPACE_FULL, `The repository was not checked out: ${why}`)
    : failed(
        "The repository could not be cloned: it is larger than a workspace may be on this runner. Use a smaller repository, or one with less history; whoever runs the machine can raise MUSTER_WORKSPACE_MB.",
      );
}

function fetchFailed({ exitCode, stderr }: GitResult, remote: CredentialedRemote): Refusal {
  if (exitCode === GIT_NOT_FOUND) return noGit();
  const message = errorText(stderr, remote) || "git said nothing";
  return failed(
    `The repository could not be cloned: fetching it from ${remote.url} failed: ${message}. ${adviceFor(stderr, remote.credential)}`,
  );
}

function noGit(): Refusal {
  return failed("Git is not installed on the runner's machine. Install it (apt-get install git).");
}

function failed(text: string): Refusal {
  return new Refusal("unavailable", "workspace_clone_failed", text);
}
