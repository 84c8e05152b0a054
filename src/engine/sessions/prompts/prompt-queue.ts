/**
 * The queue of a thread, as pure decisions: what is to be done with an arriving prompt.
 *
 * - `followup` waits for its turn.
 * - `collect` is held, only while the thread is busy, until nothing has arrived for a moment; what
 *   was held together becomes one prompt.
 * - `steer` cuts the running turn (it keeps its work and ends `superseded`) and runs next; what was
 *   queued stays queued. It may cut only a turn that the same author, the session's owner or its
 *   parent may cut; otherwise it waits like a followup.
 * - `interrupt` is a steer that does not wait for a running tool; the cut turn ends `aborted`.
 */
import type { CancelReason } from "#protocol/frames.ts";
import type { QueueMode } from "#protocol/sessions.ts";

export const MAX_WAITING = 100;
export const COLLECT_DEBOUNCE_MS = 3_000;
/** Limit of a buffer: a steady trickle must not hold it open for ever. */
export const COLLECT_LIMIT_MS = 30_000;

export const RANK_FIRST = 0;
export const RANK_NORMAL = 1;

export interface QueueState {
  /** Live run that blocks this prompt: an unclaimed one can be put back, others must be cut. */
  live: { claimed: boolean; cutting: boolean; authorKey: string } | null;
  waiting: number;
  /** Time when the first prompt entered the buffer, or null when nothing is held. */
  collectingSince: number | null;
  now: number;
}

export interface Arrival {
  mode: QueueMode;
  authorKey: string;
  /** True for the session's owner or its parent session, who may cut anyone's turn. */
  mayCutAnyone: boolean;
}

export type QueueDecision =
  | { kind: "refuse" }
  | { kind: "hold"; dueAt: number }
  | {
      kind: "queue";
      rank: number;
      flushBuffer: boolean;
      cut: CancelReason | null;
      putBackUnclaimed: boolean;
    };

export function decideArrival(queue: QueueState, arrival: Arrival): QueueDecision {
  if (queue.waiting >= MAX_WAITING) return { kind: "refuse" };
  const { live } = queue;
  if (arrival.mode === "collect" && live) return { kind: "hold", dueAt: collectDue(queue) };

  const wantsCut = arrival.mode === "steer" || arrival.mode === "interrupt";
  const mayCut = live !== null && (arrival.mayCutAnyone || arrival.authorKey === live.authorKey);
  if (!wantsCut || !mayCut) {
    // A new prompt must not overtake earlier ones that are still collected.
    const flushBuffer = queue.collectingSince !== null;
    return { kind: "queue", rank: RANK_NORMAL, flushBuffer, cut: null, putBackUnclaimed: false };
  }
  const cut = live.claimed && !live.cutting ? (arrival.mode as "steer" | "interrupt") : null;
  return {
    kind: "queue",
    rank: RANK_FIRST,
    flushBuffer: false,
    cut,
    putBackUnclaimed: !live.claimed,
  };
}

function collectDue({ now, collectingSince }: QueueState): number {
  const due = now + COLLECT_DEBOUNCE_MS;
  return collectingSince === null ? due : Math.min(due, collectingSince + COLLECT_LIMIT_MS);
}

export interface CollectedPrompt {
  authorName: string;
  content: string;
}

/** Text of prompts that were collected together: numbered, under the names of their authors. */
export function mergeCollected(prompts: readonly CollectedPrompt[]): string {
  const groups: { author: string; lines: string[] }[] = [];
  for (const { authorName, content } of prompts) {
    const last = groups.at(-1);
    const group = last?.author === authorName ? last : { author: authorName, lines: [] };
    if (group !== last) groups.push(group);
    group.lines.push(`${group.lines.length + 1}. ${JSON.stringify(content)}`);
  }
  return groups
    .map(({ author, lines }) => `[Follow-up messages from @${author}]:\n${lines.join("\n")}`)
    .join("\n\n");
}
