/**
 * Takes commits out of a workspace and pushes them. Three steps share nothing but a pack: the
 * agent's clone is read in a sandbox (`inspect-clone.ts`), the pack is checked and unpacked in
 * another, and the runner's git pushes one commit, named by its id, from a repository that was made
 * for this push and is deleted after it. Nothing is ever forced, and the default branch is left to
 * people.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Refusal } from "#base/refusal.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { holdProjectFolder } from "../folders/check-project-folder.ts";
import { removeTree } from "../folders/remove-tree.ts";
import type { Published, PublishRequest } from "../workspace.ts";
import {
  ASK_TIMEOUT_MS,
  type CloneOptions,
  mirrorMount,
  mirrorOf,
  SANDBOX_ROOT,
  updateWithCredential,
} from "./clone.ts";
import { type CloneView, findTip, packCommit } from "./inspect-clone.ts";
import {
  adviceFor,
  type CredentialedRemote,
  errorText,
  openRemote,
  runRemoteGit,
} from "./remote-git.ts";
import { checkBranch, requireUsable } from "./repository-rules.ts";
import { GIT_ENV, type GitResult, runGit } from "./run-git.ts";

const PUSH_TIMEOUT_MS = 15 * 60_000;
const HEAD_REF = "refs/heads/";

export interface PublishContext {
  /** Folder of the workspace that its agent cannot see. Each push has one of its own in it. */
  folder: string;
  /** Name of the clone's store. */
  mirror: string;
  ownBranch: string;
  view(): Promise<CloneView>;
  options: CloneOptions;
}

/** Prefix of the folders for publishing, beside the work. */
export const PUBLISH_PREFIX = "publish-";

export async function publish(context: PublishContext, given: PublishRequest): Promise<Published> {
  const request = { ...given, signal: AbortSignal.any([given.signal, context.options.closing]) };
  const branch = checkName(request.branch ?? context.ownBranch);
  context.options.disk.require();
  const folder = mkdtempSync(join(context.folder, PUBLISH_PREFIX));
  try {
    return await publishFrom({ ...context, folder }, request, branch);
  } finally {
    await removeTree(folder);
  }
}

async function publishFrom(
  context: PublishContext,
  request: PublishRequest,
  branch: string,
): Promise<Published> {
  const target = await openTarget(context, request);
  try {
    const remote = await readRemote(target, context, request);
    refuseDefault(branch, remote.defaultBranch, request.access?.defaultBranch ?? null);
    const view = await context.view();
    const tip = await findTip(view, branch);
    if ("problem" in tip) throw refused(tip.problem);
    const there = remote.heads.get(branch);
    const branches = new Set(remote.heads.keys());
    const { defaultBranch } = remote;
    const published = { branch, commit: tip.commit, defaultBranch, branches };
    if (there === tip.commit) return { ...published, isNew: false };
    if (tip.newCommits === 0 && there === undefined) {
      throw refused(
        `There is nothing to push: the repository already has all commits of ${branch}. Commit first (git add, git commit).`,
      );
    }
    mkdirSync(workOf(context));
    if (tip.newCommits > 0) await unpack(context, view, tip.commit);
    await target.push(tip.commit, branch, request.signal);
    return { ...published, isNew: true };
  } finally {
    await target.close();
  }
}

function workOf({ folder }: PublishContext): string {
  return join(folder, "work");
}

/** Two sandboxes must not share a scratch folder. */
function scratchOf({ folder }: PublishContext, name: string): string {
  return join(folder, `${name}-scratch`);
}

/** Repository that commits are pushed to. */
interface PushTarget {
  list(signal: AbortSignal): Promise<GitResult>;
  push(commit: string, branch: string, signal: AbortSignal): Promise<void>;
  explain(what: string, result: GitResult): Refusal;
  close(): Promise<void>;
}

/** Opens the repository that the clone came from; commits go nowhere else. */
async function openTarget(
  context: PublishContext,
  { repository: address, mayUsePath, access }: PublishRequest,
): Promise<PushTarget> {
  const { options, mirror } = context;
  const repository = requireUsable(address, mayUsePath);
  if (repository.kind === "path") return pathTarget(context, repository.path);
  if (mirrorOf(repository.url) !== mirror) throw otherRepository();
  const remote = openRemote(access, options.path);
  if (remote) return webTarget(context, remote);
  throw refused(
    access
      ? `Nothing can be pushed to ${access.fullName}: it has no credential. An admin can name the secret with its credential in the repository's settings.`
      : "Nothing can be pushed to this repository: the organisation does not have it. An admin can add it with a credential (muster repos add … --credential …).",
  );
}

function webTarget(context: PublishContext, remote: CredentialedRemote): PushTarget {
  const { mirror, options } = context;
  const { limits } = options;
  const store = join(options.mirrorsFolder, mirror);
  const explain = (what: string, { stderr }: GitResult) =>
    refused(
      `${what}: ${errorText(stderr, remote) || "git gave no reason"}. ${adviceIfBehind(stderr) ?? adviceFor(stderr, remote.credential)}`,
    );
  return {
    explain,
    list: (signal) =>
      runRemoteGit(remote, {
        args: listArgs(remote.url),
        env: { GIT_DIR: store },
        limits,
        timeoutMs: options.askTimeoutMs ?? ASK_TIMEOUT_MS,
        signal,
      }),
    async push(commit, branch, signal) {
      const result = await runRemoteGit(remote, {
        args: pushArgs(remote.url, commit, branch),
        env: publishEnv(workOf(context), store),
        limits,
        timeoutMs: PUSH_TIMEOUT_MS,
        signal,
      });
      if (result.exitCode !== 0) throw explain(`Pushing to ${remote.url} failed`, result);
      // Updates the mirror, so that the pushed commits are known here and to later clones.
      const update = () => updateWithCredential(options, mirror, remote, signal);
      await options.inTurn(mirror, update, { signal, error: stopped }).catch(() => {});
    },
    close: async () => {},
  };
}

/** Writes to a repository of this machine in a sandbox, which sees nothing else of the machine. */
async function pathTarget(context: PublishContext, path: string): Promise<PushTarget> {
  const { mirror, options } = context;
  const { provider, limits, mirrorsFolder, folderRules } = options;
  const held = holdProjectFolder(path, folderRules);
  if (mirrorOf(held.path) !== mirror) {
    held.close();
    throw otherRepository();
  }
  const mount = mirrorMount(provider, mirrorsFolder, mirror);
  const source = provider.kind === "local" ? held.path : `${SANDBOX_ROOT}/source`;
  const git = async (
    workspaceFolder: string,
    args: string[],
    signal: AbortSignal,
    env: (inside: string) => Record<string, string> = () => ({}),
  ) => {
    held.check();
    const sandbox = await provider.open({
      workspaceFolder,
      scratchFolder: scratchOf(context, "push"),
      readOnly: [mount],
      writable: [{ from: held.path, to: source }],
      allowedHosts: [],
      limits,
    });
    try {
      const call = { script: 'exec git "$@"', args, env: env(sandbox.workspacePath) };
      return await runGit(sandbox, { ...call, timeoutMs: PUSH_TIMEOUT_MS, signal });
    } finally {
      await sandbox.close();
    }
  };
  const explain = (what: string, { stderr }: GitResult) => {
    const message = errorText(stderr).replaceAll(source, held.path) || "git gave no reason";
    return refused(`${what}: ${message}. ${adviceIfBehind(stderr) ?? "Check the repository."}`);
  };
  return {
    explain,
    list: (signal) => git(join(mirrorsFolder, mirror), listArgs(source), signal),
    async push(commit, branch, signal) {
      const work = workOf(context);
      const result = await git(work, pushArgs(source, commit, branch), signal, (inside) =>
        publishEnv(inside, mount.to, work),
      );
      if (result.exitCode !== 0) throw explain(`Pushing to ${held.path} failed`, result);
    },
    close: async () => held.close(),
  };
}

function listArgs(url: string): string[] {
  return ["ls-remote", "--symref", "--", url, "HEAD", `${HEAD_REF}*`];
}

function pushArgs(url: string, commit: string, branch: string): string[] {
  const options = ["--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no"];
  return ["push", ...options, "--", url, `${commit}:${HEAD_REF}${branch}`];
}

/** Environment of a repository without settings, with the unpacked objects and those of the store. */
function publishEnv(folder: string, store: string, onMachine = folder): Record<string, string> {
  const made = join(onMachine, "git");
  for (const part of ["objects", "refs"]) mkdirSync(join(made, part), { recursive: true });
  mkdirSync(join(onMachine, "store", "objects"), { recursive: true });
  writeFileSync(join(made, "HEAD"), `ref: ${HEAD_REF}none\n`);
  return {
    GIT_DIR: join(folder, "git"),
    GIT_OBJECT_DIRECTORY: join(folder, "store", "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(store, "objects"),
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

const UNPACK = `git init -q --bare --template= store &&
GIT_ALTERNATE_OBJECT_DIRECTORIES="$1/objects" git --git-dir=store index-pack --stdin --fix-thin --strict`;

async function unpack(context: PublishContext, view: CloneView, commit: string): Promise<void> {
  const { options, mirror } = context;
  const { provider, limits, mirrorsFolder } = options;
  const mount = mirrorMount(provider, mirrorsFolder, mirror);
  const sandbox = await provider.open({
    workspaceFolder: workOf(context),
    scratchFolder: scratchOf(context, "unpack"),
    readOnly: [mount],
    allowedHosts: [],
    limits,
  });
  try {
    const packing = packCommit(view, commit, GIT_ENV);
    packing.stdin.end();
    const unpacking = sandbox.run({
      argv: ["/bin/sh", "-c", UNPACK, "sh", mount.to],
      env: GIT_ENV,
      timeoutMs: PUSH_TIMEOUT_MS,
    });
    unpacking.stdout.resume();
    const [packError, unpackError, packed, unpacked] = await Promise.all([
      collectText(packing.stderr),
      collectText(unpacking.stderr),
      packing.ended,
      unpacking.ended,
      // The reader may end before the writer; its exit code tells if it has everything.
      pipeline(packing.stdout, unpacking.stdin).catch(() => {}),
    ]);
    // A pack ends with its own checksum, so one that was accepted is whole.
    if (unpacked.exitCode === 0) return;
    const message = errorText(packed.exitCode === 0 ? unpackError : packError || unpackError);
    throw refused(
      `The commits could not be read from the workspace: ${message || "git gave no reason"}. Check them with git fsck.`,
    );
  } finally {
    await sandbox.close();
  }
}

interface RemoteState {
  defaultBranch: string | null;
  heads: Map<string, string>;
}

async function readRemote(
  target: PushTarget,
  { options, mirror }: PublishContext,
  { signal }: PublishRequest,
): Promise<RemoteState> {
  // In turn with fetches, which write the folder that git works in.
  const list = () => target.list(signal);
  const result = await options.inTurn(mirror, list, { signal, error: stopped });
  if (result.exitCode !== 0)
    throw target.explain("Asking the repository for its branches failed", result);
  const heads = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const text of result.stdout.split("\n")) {
    const [what = "", ref = ""] = text.split("\t");
    if (what.startsWith(`ref: ${HEAD_REF}`)) {
      if (ref === "HEAD") defaultBranch = utf8(what.slice(`ref: ${HEAD_REF}`.length));
    } else if (ref.startsWith(HEAD_REF)) heads.set(utf8(ref.slice(HEAD_REF.length)), what);
  }
  return { defaultBranch, heads };
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Accepts a branch and nothing that could be taken for another kind of ref. */
function checkName(branch: string): string {
  const name = checkBranch(branch);
  const isOdd = /^(?:\+|refs\/|HEAD$|@$|\/)|\/\/|(?:^|\/)\.|(?:\.lock|[./])$|\.lock\//.test(name);
  if (isOdd) throw refused("This is not a valid branch name. Use one that git branch shows.");
  return name;
}

/** Usual names of a default branch, for repositories that name none. */
const USUAL_DEFAULTS = ["main", "master"];

/**
 * Refuses the default branch. Some servers keep names that differ only in capital letters in one
 * place. A repository without commits, or whose head is no branch, names no default: then the usual
 * names are refused.
 */
function refuseDefault(branch: string, ...defaults: (string | null)[]): void {
  const known = defaults.filter((name) => name !== null);
  const names = known.length > 0 ? known : USUAL_DEFAULTS;
  if (!names.some((name) => name.toLowerCase() === branch.toLowerCase())) return;
  if (known.length === 0) {
    throw refused(
      `The repository does not name its default branch, and it may be ${branch}: agents do not push to that. Create a branch (git checkout -b …) and push that.`,
    );
  }
  throw refused(
    `${branch} is the repository's default branch, and agents do not push to it. Create a branch (git checkout -b …), push that, and open a pull request.`,
  );
}

function adviceIfBehind(stderr: string): string | undefined {
  if (!/non-fast-forward|fetch first|\[rejected\]/.test(stderr)) return undefined;
  return "The branch has commits there that are not in the workspace, and nothing is overwritten. Create another branch (git checkout -b …) and push that.";
}

function otherRepository(): Refusal {
  return refused(
    "The workspace was cloned from a different repository than the session's present one. Start a new session.",
  );
}

function stopped(): Refusal {
  return refused("Nothing was pushed: it was stopped.");
}

function refused(text: string): Refusal {
  return new Refusal("conflict", "push_refused", text);
}
