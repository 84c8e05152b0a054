/**
 * A session's workspace: the folder its agent works in, and what the runner knows about it. It is
 * made when a turn first needs it and kept until the session is gone. Its path is random, so nobody
 * can guess another's. Git runs on it only inside a sandbox, because an agent can write what git
 * reads.
 */
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import type { HeldFolder } from "./held-folder.ts";

/** What the session asks for; all null: an empty folder. */
export interface WorkspaceWish {
  sessionId: string;
  /** Any git address, or a path; `file://` too. */
  repo: string | null;
  branch: string | null;
  /** A folder of this machine, worked in as it is. */
  projectDir: string | null;
}

export type WorkspaceOrigin = "empty" | "folder" | "git";

export interface Workspace {
  readonly id: string;
  readonly origin: WorkspaceOrigin;
  /** On the machine. */
  readonly folder: string;
  /** Of a folder that others can reach too, and could replace: to be asked whenever it is opened. */
  readonly held?: Pick<HeldFolder, "check" | "checkOpened"> | undefined;
  /** On the machine; where commands keep what is not work. They see it at `scratchPath`. */
  readonly scratchFolder: string;
  /** As seen inside: `/tmp` where the sandbox has one of its own. */
  readonly scratchPath: string;
  readonly sandbox: Sandbox;
  /** The branch a clone works on, `muster/<session>`. */
  readonly branch: string | null;
  /** The repository's own AGENTS.md or CLAUDE.md, if it has one, cut to a bearable length. */
  instructions(): Promise<string | null>;
  /** Marks where a turn begins, for `changes`. A mark that is there stays where it is. */
  mark(name: string): Promise<void>;
  /** What is different from the mark `since`, and from the workspace's beginning. */
  changes(since: string): Promise<{ turn: WorkspaceChanges; all: WorkspaceChanges }>;
  /** Keeps the present state where the agent cannot reach it; done before anything is stopped or removed. */
  snapshot(): Promise<void>;
  diskBytes(): Promise<number>;
}

export interface Workspaces {
  /** Finds the session's workspace on this machine, or makes it. Refuses with a code and what to do. */
  open(wish: WorkspaceWish): Promise<Workspace>;
  /** The sessions whose workspaces this machine holds. */
  sessions(): string[];
  /** Whether this machine holds it already. */
  holds(sessionId: string): boolean;
  /** Stops what runs in it and keeps a snapshot; the next `open` goes on. */
  hibernate(sessionId: string): Promise<void>;
  /** Takes it away; it can be brought back for 7 days. */
  remove(sessionId: string): Promise<void>;
  restore(sessionId: string): Promise<boolean>;
  /** Deletes for good what was removed more than 7 days ago. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}
