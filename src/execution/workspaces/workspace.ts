/**
 * A session's workspace: the folder its agent works in, and what the runner knows about it. It is
 * made when a turn first needs it and kept until the session is gone. Its path is random, so nobody
 * can guess another's. Git runs on it only inside a sandbox, because an agent can write what git
 * reads.
 */
import type { Refusal } from "#base/refusal.ts";
import type { WorkspaceMeter } from "#execution/disk/workspace-meter.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { RepositoryAddress } from "#protocol/names/repository-address.ts";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import type { GitIdentity, RepositoryAccess, WorkspaceChanges } from "#protocol/workspaces.ts";
import type { HeldFolder } from "./folders/held-folder.ts";

/** Workspace that a session requests. If all are null, an empty folder. */
export interface WorkspaceRequest {
  sessionId: string;
  /** The person whose session it is. */
  ownerId?: string | null | undefined;
  repository: RepositoryAddress | null;
  branch: string | null;
  /** A folder of this machine, worked in as it is. */
  projectDir: string | null;
  /** The server grants the session a folder of this machine: as `repository`, or as `projectDir`. */
  mayUsePath: boolean;
  /** Fetches the repository's credential when it is cloned. Absent: there is none. */
  access?: (() => Promise<RepositoryAccess | null>) | undefined;
  /** The session has left its workspace: what this machine holds of it is put away, and a new one made. */
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
  /** On the machine. */
  readonly folder: string;
  /**
   * Set for a folder that others can reach and could replace; to be checked whenever it is opened.
   */
  readonly held?: Pick<HeldFolder, "check" | "checkOpened"> | undefined;
  /** On the machine; where commands keep what is not work. They see it at `scratchPath`. */
  readonly scratchFolder: string;
  /** As seen inside: `/tmp` where the sandbox has one of its own. */
  readonly scratchPath: string;
  readonly sandbox: Sandbox;
  /** The branch a clone works on, `muster/<session>`. */
  readonly branch: string | null;
  /** Set for a clone. */
  readonly repository?: ClonedRepository | undefined;
  /** The repository's own AGENTS.md or CLAUDE.md, if it has one, cut to a bearable length. */
  instructions(): Promise<string | null>;
  /** Marks where a turn begins, for `changes`. A mark that is there stays where it is. */
  mark(name: string): Promise<void>;
  /** Changes since the mark `since`, and since the workspace was created. */
  changes(since: string): Promise<{ turn: WorkspaceChanges; all: WorkspaceChanges }>;
  /** Keeps the present state where the agent cannot reach it; done before anything is stopped or removed. */
  snapshot(): Promise<void>;
  diskBytes(): Promise<number>;
  /** Space that it takes up and may take up; to be asked before the runner itself writes into it. */
  readonly meter?: Pick<WorkspaceMeter, "require" | "note"> | undefined;
  /** True when the machine's sandbox has changed: it must be opened again. */
  isStale(): boolean;
}

/** The state of a clone that an agent works on, and the way to publish it. */
export interface ClonedRepository {
  /** `base`: the branch it began with; null: the repository's default. */
  state(base: string | null): Promise<GitState>;
  /** Refuses with what to do. */
  publish(request: PublishRequest): Promise<Published>;
}

export interface GitState {
  /** Null when no branch is checked out. */
  branch: string | null;
  /** Null before the first commit. */
  head: { id: string; subject: string } | null;
  /** Null when there is no such branch. */
  base: { branch: string; ahead: number; behind: number } | null;
  /** As `git status` writes them: two letters and a path. */
  dirty: string[];
  /** Those that are not listed. */
  moreDirty: number;
  unpushed: { id: string; subject: string }[];
  moreUnpushed: boolean;
}

export interface PublishRequest {
  /** The repository as the session names it. */
  repository: RepositoryAddress;
  mayUsePath: boolean;
  access: RepositoryAccess | null;
  /** Branch of the workspace; null: the session's own. */
  branch: string | null;
  signal: AbortSignal;
}

export interface Published {
  branch: string;
  commit: string;
  /** False when the repository had it already. */
  isNew: boolean;
  /** Null when the repository names none. */
  defaultBranch: string | null;
  /** All branches there were before. */
  branches: ReadonlySet<string>;
}

export interface Workspaces {
  /** Finds the session's workspace on this machine, or makes it. Refuses with a code and what to do. */
  open(request: WorkspaceRequest): Promise<Workspace>;
  /** Why nothing can be opened or run now: no sandbox, or a full disk; null when it can. */
  sandboxRefusal(): Refusal | null;
  /** True while commands are kept apart from the machine. */
  isSandboxed(): boolean;
  /** The sessions whose workspaces this machine holds. */
  sessions(): string[];
  /** True if this machine holds the session's workspace. */
  holds(sessionId: string): boolean;
  /** Stops what runs in it and keeps a snapshot; the next `open` goes on. */
  hibernate(sessionId: string): Promise<void>;
  /** Takes it away; it can be brought back for 7 days, if its room is not needed before. */
  remove(sessionId: string): Promise<void>;
  restore(sessionId: string): Promise<boolean>;
  /** Deletes for good what was removed more than 7 days ago, or earlier where room is needed. */
  sweep(): Promise<void>;
  /** Prunes, packs and measures, for some seconds at most; to be called about once a minute. */
  tend(): Promise<void>;
  diskReport(): DiskReport;
  close(): Promise<void>;
}
