/** What the oracle remembers. It is built from what was committed and what was acknowledged only. */
import type { GateRow, PromptRow } from "#engine/schema.ts";
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
  stopReason: string | null;
  stopBy: string | null;
  leaseUntil: number | null;
  /** When its lease was last seen to be set or moved. */
  renewedAt: number;
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
}

export class Model {
  readonly sessions = new Map<string, SessionModel>();
  readonly prompts = new Map<string, PromptModel>();
  readonly runs = new Map<string, RunModel>();
  readonly gates = new Map<string, GateRow>();
  readonly purged = new Set<string>();

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

  promptsOf(sessionId: string): PromptModel[] {
    return [...this.prompts.values()].filter((prompt) => prompt.session === sessionId);
  }
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
