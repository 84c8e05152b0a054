/**
 * A runtime is an agent program that a runner drives: the contract every one of them fulfils.
 *
 * The runner owns the run (lease, fence, journal, cancellation); the runtime owns the work of one
 * turn. Rules for an implementation:
 * - `runTurn` must not reject for anything the outside does (model, tool, agent process): such
 *   failures are its return value. `LeaseLost` may pass through; any other rejection is a bug and
 *   fails the turn as `runtime_error`.
 * - It must begin after the last item of `turn.journaled`: what stands there has happened and must
 *   not be repeated. A `pre_tool` without its `post_tool` was in flight when the last attempt was
 *   lost: it must be answered with `INTERRUPTED` and must not be run again. A tool of the server may
 *   be asked again under the same call id: the server performs it once and keeps what came of it.
 * - It must await `turn.step()` before each model request and each tool call, and stop when it rejects.
 * - It must await `turn.append` of a model response before acting on it. What it has to say last
 *   belongs into the `items` of its return value: it is stored together with the settlement.
 * - When `turn.signal` aborts it must wind down: keep what was written so far (marked partial) and
 *   return `aborted`; the runner turns that into the outcome that fits the reason. On `steer` it may
 *   let a running tool finish (the runner limits how long), on any other reason it must not.
 * - When `turn.killed` aborts the runner has given the turn up: every process that works for it must
 *   be killed at once, and nothing more can be written.
 */
import type { DeltaPiece, JournalItem, Settlement } from "#protocol/events.ts";
import type {
  Assignment,
  CancelReason,
  ExecutorBinding,
  HistoryItem,
  Park,
} from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import type { ToolDefinition } from "#protocol/tools.ts";
import type { GitIdentity, RepositoryAccess } from "#protocol/workspaces.ts";

export { INTERRUPTED } from "#protocol/events.ts";

/** End of a turn, with the last items of its journal. */
export interface TurnOver extends Settlement {
  items?: JournalItem[];
}

/** The turn can do nothing for now: it releases the runner and is assigned again later. */
export interface TurnParked {
  outcome: "parked";
  park: Park;
  items?: JournalItem[];
}

export type TurnEnd = TurnOver | TurnParked;

/** Verdicts by call id, for the calls that asked to be judged. */
export type Verdicts = Readonly<Record<string, Verdict>>;

export interface Blob {
  mediaType: string;
  /** Base64. */
  data: string;
}

/** Material that the agent reads besides its prompt. */
export interface Brief {
  /** Instructions in this order, before any other part of the context. */
  instructions: { name: string; content: string }[];
  /** Files for the workspace, by their path there. */
  files: { path: string; content: string }[];
  /** Command to run once in a new workspace, before the agent begins. */
  setup: string | null;
  /** Author of the agent's commits; null if nobody was named. */
  identity?: GitIdentity | null;
  /** Notes that may matter to this prompt, one line each. */
  recall?: string[];
}

/** Earlier entries of the thread, and the summary that replaces older ones. */
export interface History {
  items: HistoryItem[];
  /** True when there are older entries. */
  more: boolean;
  summary: string | null;
  /** False after a recent failure; undefined when the server does not remember failures. */
  summaryDue?: boolean | undefined;
}

export interface ToolAnswer {
  output: unknown;
  error: string | null;
  /** True when the result ends the turn. */
  endsTurn?: boolean;
}

export interface Turn {
  readonly assignment: Assignment;
  /** Aborts when the turn is cancelled (the reason is a `CancelReason`) or lost (a `LeaseLost`). */
  readonly signal: AbortSignal;
  /** Aborts when the turn is over for the runner, whatever the runtime still does. */
  readonly killed: AbortSignal;
  /** Items that earlier attempts of this turn journaled. */
  readonly journaled: readonly JournalItem[];
  /** Server tools that this agent has. */
  readonly serverTools: readonly ToolDefinition[];
  /**
   * Resolves when this runner may start another step: at once while its lease is fresh, otherwise
   * when the server has renewed it. Rejects with `LeaseLost` when that will not happen any more.
   */
  step(): Promise<void>;
  /** Mints the id of an entry, to be used by its deltas and its journal item. */
  entryId(): string;
  /** Sends a piece of an entry to watchers. Never waits. */
  delta(piece: DeltaPiece): void;
  /** Retracts the shown pieces of an entry that is not journaled yet: it begins again. */
  retract(entryId: string): void;
  /** Appends to the session's log; resolves when it is durable. Throws `LeaseLost` if the run is gone. */
  append(...items: JournalItem[]): Promise<Verdicts>;
  /** Reports the agent process that serves the session now. */
  bind(binding: ExecutorBinding): Promise<void>;
  /** Calls a server tool. The same `callId` is performed at most once. */
  callTool(callId: string, name: string, input: unknown): Promise<ToolAnswer>;
  /** Earlier entries of the thread, newest page first, before `beforeSeq` (or from the end). */
  history(beforeSeq: number | null, limit: number): Promise<History>;
  /** Brief of the agent; null when there is none. */
  brief(): Promise<Brief | null>;
  /**
   * State that the agent must still know when its history is summed up or not all given; null for
   * none.
   */
  register(): Promise<string | null>;
  /**
   * Access to the session's repository; null when the organisation does not know it. Refuses when
   * the repository is known and cannot be opened. The access must reach no sandbox, no file, no
   * journal and no log.
   */
  repository(): Promise<RepositoryAccess | null>;
  /** Stores something too large for the journal; returns its sha256. */
  keepBlob(blob: Blob): Promise<string>;
  /** Fetches an attachment or a stored blob; null when there is none. */
  fetchBlob(sha256: string): Promise<Blob | null>;
  readonly log: {
    info(fields: object, text: string): void;
    warn(fields: object, text: string): void;
    error(fields: object, text: string): void;
  };
}

export interface Runtime {
  readonly name: string;
  /** Begins every turn with `brief` and `history`, so both should be sent along. */
  readonly readsFirst?: boolean;
  /** Works on one turn to its end. */
  runTurn(turn: Turn): Promise<TurnEnd>;
  /** Sessions that it keeps something for on this machine. */
  heldSessions?(): string[];
  /**
   * Ends the processes of a session that rests, or will not come back (`gone`), and secures its
   * data. Never called while a turn of the session runs here.
   */
  releaseSession?(sessionId: string, isGone: boolean): Promise<void>;
  /** Ends everything this runtime still runs. Must leave no process behind. */
  close?(): Promise<void>;
}

/** Thrown into a runtime when the run no longer belongs to this runner. Nothing may be written after it. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

export type { CancelReason };
