/** The oracle's memory, built only from commits and acknowledgements. */
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
  /** Arrival order within the session; for a merged prompt, that of its last part. */
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
  /** The row as it was settled: it must never change again. */
  settledAs: string | null;
  /** Entries that the turn has journaled, over all its attempts, in order. */
  entries: string[];
  /** Verdicts on the turn's calls, by call id. */
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
  /** Count under the current fence. */
  journaled: number;
  strikes: number;
  /** Consecutive losses without progress that were not the prompt's fault. */
  blameless: number;
  runnerBoot: string;
  /** The runner whose lease ended last, and the end of the preference for others. */
  leftBy: { runnerId: string; until: number } | null;
  stopReason: string | null;
  stopBy: string | null;
  leaseUntil: number | null;
  /** When its lease was last set or moved. */
  renewedAt: number;
  /** Why nobody holds it, although it is not lost. */
  parked: "gate" | "pause" | null;
  /** Parked until someone has answered. */
  isWaiting: boolean;
  /** The gate decisions that the current attempt must be sent. */
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
  /** A person has asked for it to be put to sleep. */
  isSentToSleep: boolean;
  /** The machine that holds its files, and earlier ones. */
  keeper: string | null;
  keepers: Set<string>;
}

/** Orchestrators keep their id when they are restarted. */
export function isOrchestrator(sessionId: string): boolean {
  return sessionId.startsWith("orchestrator:");
}

/** The part of one commit that concerns one session. */
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
  /** The attempt that was first sent a gate's decision, by gate id. */
  readonly told = new Map<string, number>();
  /** Attempts that a runner was sent, as run and fence. */
  readonly heard = new Set<string>();
  /** Effects of server tools, by prompt and call. */
  readonly effects = new Map<string, string>();
  /** Counts of rare events: an event that never happens is not tested. */
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

/** True if the answer was to allow; no answer in time is a denial. */
export function isAllowed({ decision }: GateRow): boolean {
  return (JSON.parse(decision ?? "{}") as { allowed?: boolean }).allowed === true;
}

export function isAnswered({ state }: GateRow): boolean {
  return state === "decided" || state === "expired";
}

export function authorKey(row: Pick<PromptRow, "author_kind" | "author_id">): string {
  return `${row.author_kind}:${row.author_id}`;
}

/** The columns that must not change once a prompt has an outcome. */
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
