/**
 * A session's workspace: the folder its agent works in, and the runner's record of it. The
 * workspace is made when a turn first needs it and kept until the session is gone. Its path is
 * random, so nobody can guess another's. Git runs on it only inside a sandbox, because an agent can
 * write what git reads.
 */
import type { Refusal } from "#base/refusal.ts";
import type { WorkspaceMeter } from "#execution/disk/workspace-meter.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { RepositoryAddress } from "#protocol/names/repository-address.ts";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import type { GitIdentity, RepositoryAccess, WorkspaceChanges } from "#protocol/workspaces.ts";
import type { HeldFolder } from "./folders/held-folder.ts";

/** Workspace that a session requests; an empty folder if all are null. */
export interface WorkspaceRequest {
  sessionId: string;
  /** Owner of the session. */
  ownerId?: string | null | undefined;
  repository: RepositoryAddress | null;
  branch: string | null;
  /** Folder of this machine, worked in as it is. */
  projectDir: string | null;
  /** True when the server grants a folder of this machine: as `repository`, or as `projectDir`. */
  mayUsePath: boolean;
  /** Fetches the repository's credential when it is cloned. Absent when there is none. */
  access?: (() => Promise<RepositoryAccess | null>) | undefined;
  /**
   * True when the session has left its workspace: the old one on this machine is removed, and a new
   * one made.
   */
  isFresh?: boolean | undefined;
  /** Author of commits in a clone. */
  identity?: GitIdentity | null | undefined;
  /** Signal of the turn that needs the workspace: a clone is stopped when it aborts. */
  signal?: AbortSignal | undefined;
}

export type WorkspaceOrigin = "empty" | "folder" | "git";

export interface Workspace {
  readonly id: string;
  readonly origin: WorkspaceOrigin;
  /** Folder on the machine. */
  readonly folder: string;
  /** Set for a folder that others can reach and could replace; checked whenever it is opened. */
  readonly held?: Pick<HeldFolder, "check" | "checkOpened"> | undefined;
  /** Folder on the machine for files that are not work. Commands see it at `scratchPath`. */
  readonly scratchFolder: string;
  /** Scratch path as seen inside: `/tmp` where the sandbox has one of its own. */
  readonly scratchPath: string;
  readonly sandbox: Sandbox;
  /** Branch of a clone, `muster/<session>`. */
  readonly branch: string | null;
  /** Set for a clone. */
  readonly repository?: ClonedRepository | undefined;
  /** The repository's own AGENTS.md or CLAUDE.md, if it has one, cut to a bearable length. */
  instructions(): Promise<string | null>;
  /** Marks the beginning of a turn, for `changes`. An existing mark stays where it is. */
  mark(name: string): Promise<void>;
  /** Changes since the mark `since`, and since the workspace was created. */
  changes(since: string): Promise<{ turn: WorkspaceChanges; all: WorkspaceChanges }>;
  /**
   * Keeps the present state where the agent cannot reach it; called before anything is stopped or
   * removed.
   */
  snapshot(): Promise<void>;
  diskBytes(): Promise<number>;
  /** Meter of the disk usage; asked before the runner itself writes into the workspace. */
  readonly meter?: Pick<WorkspaceMeter, "require" | "note"> | undefined;
  /** True when the machine's sandbox has changed: the workspace must be opened again. */
  isStale(): boolean;
}

/** State of a clone that an agent works on, and the way to publish it. */
export interface ClonedRepository {
  /** Reads the state. `base` is the branch it began with; null for the repository's default. */
  state(base: string | null): Promise<GitState>;
  /** Publishes commits. A refusal says what to do. */
  publish(request: PublishRequest): Promise<Published>;
}

export interface GitState {
  /** Null when no branch is checked out. */
  branch: string | null;
  /** Null before the first commit. */
  head: { id: string; subject: string } | null;
  /** Null when the branch does not exist. */
  base: { branch: string; ahead: number; behind: number } | null;
  /** Changed files as `git status` writes them: two letters and a path. */
  dirty: string[];
  /** Number of changed files that are not listed. */
  moreDirty: number;
  unpushed: { id: string; subject: string }[];
  moreUnpushed: boolean;
}

export interface PublishRequest {
  /** Repository as the session names it. */
  repository: RepositoryAddress;
  mayUsePath: boolean;
  access: RepositoryAccess | null;
  /** Branch of the workspace; null for the session's own. */
  branch: string | null;
  signal: AbortSignal;
}

export interface Published {
  branch: string;
  commit: string;
  /** False when the repository had the commit already. */
  isNew: boolean;
  /** Null when the repository names none. */
  defaultBranch: string | null;
  /** All branches that existed before. */
  branches: ReadonlySet<string>;
}

export interface Workspaces {
  /** Finds the session's workspace on this machine, or makes it. Refuses with a code and what to do. */
  open(request: WorkspaceRequest): Promise<Workspace>;
  /** Reason why nothing can be opened or run now: no sandbox, or a full disk; null for none. */
  sandboxRefusal(): Refusal | null;
  /** True while commands are isolated from the machine. */
  isSandboxed(): boolean;
  /** Sessions whose workspaces this machine holds. */
  sessions(): string[];
  /** True if this machine holds the session's workspace. */
  holds(sessionId: string): boolean;
  /** Stops the workspace's processes and keeps a snapshot; the next `open` continues from it. */
  hibernate(sessionId: string): Promise<void>;
  /** Removes the workspace; it can be brought back for 7 days, if its space is not needed before. */
  remove(sessionId: string): Promise<void>;
  restore(sessionId: string): Promise<boolean>;
  /**
   * Deletes workspaces for good that were removed more than 7 days ago, or earlier where space is
   * needed.
   */
  sweep(): Promise<void>;
  /** Prunes, packs and measures, for some seconds at most; called about once a minute. */
  tend(): Promise<void>;
  diskReport(): DiskReport;
  close(): Promise<void>;
}
