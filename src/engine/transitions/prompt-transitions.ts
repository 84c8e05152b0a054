/** States of a prompt. A prompt ends exactly once: no row of the table begins at `settled`. */
import type { Outcome, PromptState } from "#protocol/sessions.ts";
import type { PromptRow } from "../schema.ts";
import { findNext, firstState, type TransitionTable } from "./table.ts";

export type PromptEvent =
  /** Leaves the collect buffer, or goes to the front of the queue. */
  | { type: "queue"; now: number }
  /** A runner has claimed the run: the prompt is part of the history now. */
  | { type: "start"; now: number }
  /** The turn waits for an answer. */
  | { type: "ask" }
  /** The turn waits for no answer any more. */
  | { type: "resume" }
  | {
      type: "settle";
      outcome: Outcome;
      supersededBy?: string | undefined;
      mergedInto?: string | undefined;
      now: number;
    };

/** An event as the table names it: a settlement by its outcome. */
export type PromptEventName =
  | "admit"
  | "collect"
  | Exclude<PromptEvent["type"], "settle">
  | Outcome;

const WAITING = ["collecting", "queued"] as const;
const BEGUN = ["running", "gated"] as const;

export const PROMPT_TRANSITIONS: TransitionTable<PromptState, PromptEventName, unknown> = [
  { from: ["none"], event: "admit", to: "queued" },
  { from: ["none"], event: "collect", to: "collecting" },
  { from: WAITING, event: "queue", to: "queued" },
  { from: ["queued"], event: "start", to: "running" },
  { from: BEGUN, event: "ask", to: "gated" },
  { from: BEGUN, event: "resume", to: "running" },
  // A command such as /clear is done without a turn; a prompt may also fail before it has one.
  { from: ["queued", ...BEGUN], event: "completed", to: "settled" },
  { from: ["queued", ...BEGUN], event: "failed", to: "settled" },
  { from: [...WAITING, ...BEGUN], event: "aborted", to: "settled" },
  { from: ["queued", ...BEGUN], event: "superseded", to: "settled" },
  { from: WAITING, event: "merged", to: "settled" },
  { from: WAITING, event: "withdrawn", to: "settled" },
];

/** Columns that a transition may set. */
export type PromptChange = Pick<PromptRow, "state" | "outcome"> &
  Partial<
    Pick<PromptRow, "queued_at" | "started_at" | "settled_at" | "superseded_by" | "merged_into">
  >;

/**
 * State of an admitted prompt; with `collects` it is held for a moment, to be merged with those
 * that follow.
 */
export function admittedPrompt(now: number, { collects = false } = {}) {
  return {
    state: firstState(PROMPT_TRANSITIONS, collects ? "collect" : "admit"),
    outcome: null,
    queued_at: collects ? null : now,
    started_at: null,
    settled_at: null,
    superseded_by: null,
    merged_into: null,
  } satisfies PromptChange;
}

/** True while no turn has begun on the prompt. */
export function isWaiting({ state }: Pick<PromptRow, "state">): boolean {
  return (WAITING as readonly PromptState[]).includes(state);
}

/** Columns to set when this event happens to a prompt. */
export function transitionPrompt(prompt: PromptRow, event: PromptEvent): PromptChange {
  const name = event.type === "settle" ? event.outcome : event.type;
  const state = findNext(PROMPT_TRANSITIONS, prompt.state, name, prompt);
  if (state === undefined)
    throw new Error(`prompt ${prompt.id} is ${prompt.state} and cannot ${name}`);
  return {
    state,
    outcome: event.type === "settle" ? event.outcome : null,
    ...marksOf(prompt, event),
  };
}

function marksOf(prompt: PromptRow, event: PromptEvent): Omit<PromptChange, "state" | "outcome"> {
  switch (event.type) {
    case "queue":
      return { queued_at: prompt.queued_at ?? event.now };
    case "start":
      return { started_at: event.now };
    case "settle":
      return {
        superseded_by: event.supersededBy ?? null,
        merged_into: event.mergedInto ?? null,
        settled_at: event.now,
      };
    default:
      return {};
  }
}
