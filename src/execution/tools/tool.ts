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
  /** Address as the session names it. */
  address: RepositoryAddress;
  /** True when the server lets the session use a folder of this machine. */
  mayUsePath: boolean;
  /** Requested branch; null for the default. */
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
  /** Workspace of the session, made when the first tool asks for it. May refuse. */
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
  /** Images for the model besides the text. */
  images?: { mediaType: string; data: string }[];
  /** File with the whole output, when that was longer; the agent can read it. */
  spilled?: { path: string; bytes: number };
  /** True when the outcome ends the turn. */
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
  /** Ends the background processes of a session that goes to sleep. */
  rest(sessionId: string): Promise<void>;
  /** Processes that `rest` ended and that the session's agent was not notified of yet. */
  takeEndedByRest(sessionId: string): readonly { id: string; command: string }[];
  /** Ends the background processes of a session for good. */
  endSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}
