import { describe, expect, it } from "vitest";
import { OUTCOMES, PROMPT_STATES, type PromptState } from "#protocol/sessions.ts";
import type { PromptRow } from "../schema.ts";
import {
  admittedPrompt,
  isWaiting,
  PROMPT_TRANSITIONS,
  type PromptEvent,
  transitionPrompt,
} from "./prompt-transitions.ts";

const NOW = 5_000;
const EVENTS: Record<string, PromptEvent> = {
  queue: { type: "queue", now: NOW },
  start: { type: "start", now: NOW },
  ask: { type: "ask" },
  resume: { type: "resume" },
  ...Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, { type: "settle", outcome, now: NOW } as const]),
  ),
};

const prompt = (state: PromptState, given: Partial<PromptRow> = {}) =>
  ({ ...admittedPrompt(1), id: "pmt_1", state, ...given }) as PromptRow;

/** Next states; every other pair is refused. */
const ALLOWED: Record<string, Partial<Record<PromptState, PromptState>>> = {
  queue: { collecting: "queued", queued: "queued" },
  start: { queued: "running" },
  ask: { running: "gated", gated: "gated" },
  resume: { running: "running", gated: "running" },
  completed: { queued: "settled", running: "settled", gated: "settled" },
  failed: { queued: "settled", running: "settled", gated: "settled" },
  aborted: { collecting: "settled", queued: "settled", running: "settled", gated: "settled" },
  superseded: { queued: "settled", running: "settled", gated: "settled" },
  merged: { collecting: "settled", queued: "settled" },
  withdrawn: { collecting: "settled", queued: "settled" },
};

const pairs = Object.keys(EVENTS).flatMap((event) =>
  PROMPT_STATES.map((from) => ({ event, from, to: ALLOWED[event]?.[from] })),
);

describe("every state of a prompt and every event", () => {
  it.each(pairs)("$from by $event: $to", ({ event, from, to }) => {
    const happened = EVENTS[event] as PromptEvent;
    if (to === undefined)
      expect(() => transitionPrompt(prompt(from), happened)).toThrow(`is ${from} and cannot`);
    else expect(transitionPrompt(prompt(from), happened).state).toBe(to);
  });

  it("ends exactly once", () => {
    expect(PROMPT_TRANSITIONS.filter(({ from }) => from.includes("settled"))).toEqual([]);
  });
});

describe("every row of the table", () => {
  const rows = PROMPT_TRANSITIONS.flatMap((row) => row.from.map((from) => ({ ...row, from })));

  it.each(rows)("$from by $event to $to", ({ from, event, to }) => {
    const made = { admit: admittedPrompt(NOW), collect: admittedPrompt(NOW, { collects: true }) };
    if (from === "none") return expect(made[event as "admit"].state).toBe(to);
    const changed = transitionPrompt(prompt(from), EVENTS[event] as PromptEvent);
    expect(changed.state).toBe(to);
    expect(changed.outcome).toBe(to === "settled" ? event : null);
  });
});

describe("the receipt of a prompt", () => {
  it("says since when it is queued: not while it is collected, and not later when it is promoted", () => {
    expect(admittedPrompt(NOW).queued_at).toBe(NOW);
    expect(admittedPrompt(NOW, { collects: true }).queued_at).toBeNull();
    const queue = EVENTS.queue as PromptEvent;
    expect(transitionPrompt(prompt("collecting", { queued_at: null }), queue).queued_at).toBe(NOW);
    expect(transitionPrompt(prompt("queued", { queued_at: 7 }), queue).queued_at).toBe(7);
  });

  it("says when it began and when it ended, and what took its place", () => {
    expect(transitionPrompt(prompt("queued"), EVENTS.start as PromptEvent).started_at).toBe(NOW);
    const cut = { type: "settle", outcome: "superseded", supersededBy: "pmt_2", now: NOW } as const;
    expect(transitionPrompt(prompt("running"), cut)).toEqual({
      state: "settled",
      outcome: "superseded",
      superseded_by: "pmt_2",
      merged_into: null,
      settled_at: NOW,
    });
  });
});

it.each(PROMPT_STATES.map((state) => [state, state === "collecting" || state === "queued"]))(
  "a prompt that is %s waits: %s",
  (state, waits) => {
    expect(isWaiting({ state: state as PromptState })).toBe(waits);
  },
);
