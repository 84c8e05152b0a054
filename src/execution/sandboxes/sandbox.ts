/**
 * A sandbox: where a session's commands run. The contract every kind fulfils, and the promises the
 * suite in `sandbox.contract.ts` holds each to:
 * - a command sees the workspace, writable, at `workspacePath`, a read-only system and nothing else
 *   of the machine; no environment but what it is given, also not in `/proc`;
 * - no network, unless hosts are allowed, and then those alone, through a proxy outside;
 * - limits on processes, memory, file size and time; `enforced` says which really hold (for what
 *   all files together take up, see `disk/disk-guard.ts`);
 * - when a command ends, is killed or times out, everything it started is gone, also what
 *   daemonised; `close` ends all commands.
 */
import type { Readable, Writable } from "node:stream";
import type { SandboxFix } from "#protocol/reports/sandboxes.ts";

export type SandboxKind = "bubblewrap" | "local";

export interface SandboxLimits {
  processes: number;
  memoryBytes: number;
  /** Size of the largest file that a command may write. */
  fileBytes: number;
}

export const DEFAULT_LIMITS: SandboxLimits = {
  processes: 512,
  memoryBytes: 4 * 1024 ** 3,
  fileBytes: 2 * 1024 ** 3,
};

/** Mechanism that enforces a limit, in a word for people; null if nothing does. */
export type Enforced = Readonly<Record<keyof SandboxLimits, string | null>>;

export interface SandboxSpec {
  /** Folder on the machine; mounted writable. */
  workspaceFolder: string;
  /**
   * `device:inode` of the workspace. A command does not begin when it finds another folder there:
   * somebody may have replaced it after it was checked. Sandboxes that mount nothing cannot tell.
   */
  workspaceIdentity?: string | undefined;
  /** Folder on the machine for /tmp and the home of this session; it outlives a command. */
  scratchFolder: string;
  /** Further paths that a command may read: the machine's path, and the path inside. */
  readOnly?: readonly { from: string; to: string; identity?: string | undefined }[];
  /** Further paths that it may write; for the runner's own commands, never for an agent's. */
  writable?: readonly { from: string; to: string }[];
  /** True for the runner's own commands, which look at a workspace and change nothing in it. */
  workspaceReadOnly?: boolean;
  /**
   * Host names that may be reached; `*.example.com` matches any below it. None means no network at
   * all.
   */
  allowedHosts: readonly string[];
  limits: SandboxLimits;
}

export interface SandboxCommand {
  argv: readonly string[];
  /** Working directory as seen inside; the top of the workspace if absent. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** Kills the whole tree when it aborts. */
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface CommandEnd {
  /** Null when a signal ended the command. */
  exitCode: number | null;
  signal: string | null;
  /**
   * Set when the command did not end by itself: `quota` for a full workspace, `disk` for a full
   * disk.
   */
  killedBy: "timeout" | "abort" | "memory" | "processes" | "quota" | "disk" | null;
  /** Reason that was given for killing it. */
  why?: string;
}

export interface SandboxProcess {
  /** Process of the machine that all others of the command descend from. */
  readonly pid?: number | undefined;
  readonly stdin: Writable;
  /** Output; must be read, or the command stands still. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the command and all it started are gone. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Kills the whole tree. The first reason that is given counts. */
  kill(by?: NonNullable<CommandEnd["killedBy"]>, why?: string): void;
}

export interface Sandbox {
  readonly kind: SandboxKind;
  /** Path of the workspace as commands see it. */
  readonly workspacePath: string;
  readonly enforced: Enforced;
  run(command: SandboxCommand): SandboxProcess;
  /** Ends all commands that still run in the sandbox. */
  close(): Promise<void>;
}

export type SandboxProbe =
  | { usable: true; enforced: Enforced }
  /** `why` says what to do; `fix` names the command for it, where there is one. */
  | { usable: false; why: string; fix?: SandboxFix | null };

export interface SandboxProvider {
  readonly kind: SandboxKind;
  /** Finds out, by trying, if this machine supports the sandbox. Called once at start. */
  probe(): Promise<SandboxProbe>;
  open(spec: SandboxSpec): Promise<Sandbox>;
  /** False when the machine's sandbox has changed since: sandboxes opened with this provider refuse. */
  isCurrent?(): boolean;
}
