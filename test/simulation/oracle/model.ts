/** What the oracle remembers. It is built from what was committed and what was acknowledged only. */
import type { Tx } from "#base/store/index.ts";
import type { GateRow, PromptRow, RunRow } from "#engine/schema.ts";
import type { Outcome, QueueMode } from "#protocol/sessions.ts";

export class Violation extends Error {}

export function must(condition: unknown, what: () => string): asserts condition {
  if (!condition) throw new Violation(what());
}

export interface PromptModel {
  id: string;
  session: string;
  thread: string;
  /** Its place among the arrivals of its session; of a merged prompt, that of the last it holds. */
  order: number;
  mode: QueueMode;
  runId: string;
  isPromoted: boolean;
  isStarted: boolean;
  outcome: Outcome | null;
  content: string;
  attachments: string;
  author: string;
  mergedFrom: readonly string[];
  /** The row as it was when it was settled: it must never change again. */
  settledAs: string | null;
  /** What a turn has journaled, over all its attempts, in order. */
  entries: string[];
  /** The judged calls of the turn, and what was said of each. */
  verdicts: Map<string, string>;
  /** Calls without a result. */
  openCalls: Set<string>;
  /** Calls that the turn was parked for. */
  parkedFor: Set<string>;
}

export interface RunModel {
  id: string;
  promptId: string;
  session: string;
  fence: number;
  attempts: number;
  isHeld: boolean;
  isSettled: boolean;
  runnerId: string;
  serverBoot: string;
  /** Under the present fence. */
  journaled: number;
  strikes: number;
  /** Losses in a row, without progress, that were not the prompt's fault. */
  blameless: number;
  runnerBoot: string;
  /** The runner whose lease ended last, and until when others are preferred. */
  leftBy: { runnerId: string; until: number } | null;
  stopReason: string | null;
  stopBy: string | null;
  leaseUntil: number | null;
  /** When its lease was last seen to be set or moved. */
  renewedAt: number;
  /** Why nobody holds it, although it is not lost. */
  parked: "gate" | "pause" | null;
  /** Parked until somebody has answered. */
  isWaiting: boolean;
  /** What the present attempt must be told of its gates. */
  decisions: string;
}

export interface SessionModel {
  id: string;
  ownerId: string | null;
  parentId: string | null;
  isExclusive: boolean;
  lifecycle: string;
  archivedAt: number | null;
  lastSeq: number;
  arrivals: number;
  waiting: number;
  updatedAt: number;
  /** Somebody has asked for it to be put to sleep. */
  isSentToSleep: boolean;
  /** Where its files are, and where they have been. */
  keeper: string | null;
  keepers: Set<string>;
}

/** Orchestrators keep their id when they are begun anew. */
export function isOrchestrator(sessionId: string): boolean {
  return sessionId.startsWith("orchestrator:");
}

/** One commit, as far as it is about one session. */
export interface Batch {
  tx: Tx;
  session: SessionModel;
  prompts: ReadonlyMap<string, PromptRow>;
  runs: ReadonlyMap<string, RunRow>;
  edited: Set<string>;
}

export class Model {
  readonly sessions = new Map<string, SessionModel>();
  readonly prompts = new Map<string, PromptModel>();
  readonly runs = new Map<string, RunModel>();
  readonly gates = new Map<string, GateRow>();
  readonly purged = new Set<string>();
  /** The only runner that may take a run, by the run's id. */
  readonly pins = new Map<string, string>();
  /** The attempt that was first told of a gate's decision, by the gate's id. */
  readonly told = new Map<string, number>();
  /** Attempts that a runner was told of, as run and fence. */
  readonly heard = new Set<string>();
  /** What server tools have done, by prompt and call. */
  readonly effects = new Map<string, string>();
  /** How often what is rare has happened: what never happens is not tested. */
  readonly seen = {
    parks: 0,
    deaf: 0,
    pauses: 0,
    expired: 0,
    toldAgain: 0,
    pinned: 0,
    asleep: 0,
    madeRoom: 0,
    silent: 0,
    unaccepted: 0,
  };

  prompt(id: string | null): PromptModel {
    const prompt = this.prompts.get(id ?? "");
    must(prompt, () => `prompt ${id} was never accepted`);
    return prompt;
  }

  run(id: string | null): RunModel {
    const run = this.runs.get(id ?? "");
    must(run, () => `run ${id} was never claimed`);
    return run;
  }

  gatesOf(promptId: string): GateRow[] {
    return [...this.gates.values()].filter((gate) => gate.prompt_id === promptId);
  }

  promptsOf(sessionId: string): PromptModel[] {
    return [...this.prompts.values()].filter((prompt) => prompt.session === sessionId);
  }
}

/** Whether the answer was a yes; no answer in time is a no. */
export function isAllowed({ decision }: GateRow): boolean {
  return (JSON.parse(decision ?? "{}") as { allowed?: boolean }).allowed === true;
}

export function isAnswered({ state }: GateRow): boolean {
  return state === "decided" || state === "expired";
}

export function authorKey(row: Pick<PromptRow, "author_kind" | "author_id">): string {
  return `${row.author_kind}:${row.author_id}`;
}

/** What must not change once a prompt has an outcome. */
export function settledForm(row: PromptRow): string {
  return JSON.stringify([
    row.state,
    row.outcome,
    row.superseded_by,
    row.merged_into,
    row.error_code,
    row.settled_at,
    row.started_at,
    row.content,
  ]);
}
