/**
 * Contract of a tool of `protocol/tools.ts` that the runner performs. By the time `perform` is called
 * the call is journaled, allowed and its input valid; the executor redacts, shortens, labels and
 * journals the outcome, the same way for every tool.
 *
 * Rules for an implementation: never throw for what the outside does (a failing command, a missing
 * file, a dead server): that is `error`, a sentence that tells a model what to do next. Keep memory
 * flat however much there is: read through `OutputBuffer`. Stop when `signal` aborts.
 */
import type { Workspace } from "#execution/workspaces/workspace.ts";
import type { RepositoryAddress } from "#protocol/names/repository-address.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";

export interface SessionRepository {
  /** As the session names it. */
  address: RepositoryAddress;
  /** The server lets the session use a folder of this machine. */
  mayUsePath: boolean;
  /** The branch that was asked for; null: the default. */
  branch: string | null;
  /** Access to the repository; null when none is known. May refuse. */
  access(): Promise<RepositoryAccess | null>;
}

export interface ToolContext {
  readonly sessionId: string;
  readonly callId: string;
  /**
   * Working directory of a command, as seen in the sandbox and as judged. Null is the top of the
   * workspace.
   */
  readonly cwd: string | null;
  /** The session's workspace, made when the first tool asks for it. May refuse. */
  workspace(): Promise<Workspace>;
  /** Set for a session that works on a repository. */
  readonly repository?: SessionRepository | undefined;
  readonly signal: AbortSignal;
  /** Shows a piece of the output while the tool works. Never waits. */
  progress(text: string): void;
}

export interface ToolOutcome {
  output: string;
  error: string | null;
  exitCode?: number | null;
  /** Shown to the model besides the text. */
  images?: { mediaType: string; data: string }[];
  /** All of the output was longer: the whole of it lies in this file, which the agent can read. */
  spilled?: { path: string; bytes: number };
  /** Nothing more is to be done in this turn. */
  endsTurn?: boolean;
}

export interface RunnerTool {
  readonly name: string;
  perform(context: ToolContext, input: unknown): Promise<ToolOutcome>;
}

export interface RunnerTools {
  get(name: string): RunnerTool | undefined;
  /**
   * Folder in which the session's last command ended, as seen inside; null is the top of the
   * workspace.
   */
  workingDirectory(sessionId: string): string | null;
  /** Ends what the session left running in the background, because it goes to sleep. */
  rest(sessionId: string): Promise<void>;
  /** Processes that `rest` ended and the session's agent was not told of yet. */
  takeEndedByRest(sessionId: string): readonly { id: string; command: string }[];
  /** Ends what the session left running in the background, for good. */
  endSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}
