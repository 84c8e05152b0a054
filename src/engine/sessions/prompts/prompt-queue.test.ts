import { describe, expect, it } from "vitest";
import {
  type Arrival,
  COLLECT_DEBOUNCE_MS,
  COLLECT_LIMIT_MS,
  decideArrival,
  MAX_WAITING,
  mergeCollected,
  type QueueDecision,
  type QueueState,
  RANK_FIRST,
  RANK_NORMAL,
} from "./prompt-queue.ts";

const NOW = 1_000_000;
const idle: QueueState = { live: null, waiting: 0, collectingSince: null, now: NOW };
const unclaimed: QueueState = {
  ...idle,
  live: { claimed: false, cutting: false, authorKey: "user:a" },
};
const running: QueueState = {
  ...idle,
  live: { claimed: true, cutting: false, authorKey: "user:a" },
};
const cutting: QueueState = {
  ...idle,
  live: { claimed: true, cutting: true, authorKey: "user:a" },
};

const by = (mode: Arrival["mode"], authorKey = "user:a", mayCutAnyone = false): Arrival => ({
  mode,
  authorKey,
  mayCutAnyone,
});
const queue = (fields: Partial<Extract<QueueDecision, { kind: "queue" }>> = {}): QueueDecision => ({
  kind: "queue",
  rank: RANK_NORMAL,
  flushBuffer: false,
  cut: null,
  putBackUnclaimed: false,
  ...fields,
});

describe("what becomes of an arriving prompt", () => {
  const first = { rank: RANK_FIRST };
  const rows: [string, QueueState, Arrival, QueueDecision][] = [
    ["followup, idle", idle, by("followup"), queue()],
    ["followup, running", running, by("followup"), queue()],
    ["collect, idle: nothing to wait for", idle, by("collect"), queue()],
    [
      "collect, running",
      running,
      by("collect"),
      { kind: "hold", dueAt: NOW + COLLECT_DEBOUNCE_MS },
    ],
    ["steer, idle", idle, by("steer"), queue()],
    [
      "steer, unclaimed: goes before it",
      unclaimed,
      by("steer"),
      queue({ ...first, putBackUnclaimed: true }),
    ],
    ["steer, running", running, by("steer"), queue({ ...first, cut: "steer" })],
    ["steer, already being cut", cutting, by("steer"), queue(first)],
    ["steer by a stranger waits", running, by("steer", "user:b"), queue()],
    [
      "steer by the owner or the parent",
      running,
      by("steer", "user:b", true),
      queue({ ...first, cut: "steer" }),
    ],
    ["interrupt, running", running, by("interrupt"), queue({ ...first, cut: "interrupt" })],
    [
      "followup after what is held",
      { ...running, collectingSince: NOW - 10 },
      by("followup"),
      queue({ flushBuffer: true }),
    ],
    [
      "steer leaves what is held",
      { ...running, collectingSince: NOW - 10 },
      by("steer"),
      queue({ ...first, cut: "steer" }),
    ],
    ["anything, full", { ...running, waiting: MAX_WAITING }, by("steer"), { kind: "refuse" }],
    ["one before full", { ...running, waiting: MAX_WAITING - 1 }, by("followup"), queue()],
  ];
  it.each(rows)("%s", (_name, state, arrival, decision) => {
    expect(decideArrival(state, arrival)).toEqual(decision);
  });

  it("holds a trickle only so long", () => {
    const since = NOW - COLLECT_LIMIT_MS + 1_000;
    const decision = decideArrival({ ...running, collectingSince: since }, by("collect"));
    expect(decision).toEqual({ kind: "hold", dueAt: since + COLLECT_LIMIT_MS });
  });
});

describe("collected prompts", () => {
  it("are numbered under who said them, in order", () => {
    const text = mergeCollected([
      { authorName: "ana", content: "first" },
      { authorName: "ana", content: 'say "hi"\nplease' },
      { authorName: "bo", content: "third" },
    ]);
    expect(text).toBe(
      '[Follow-up messages from @ana]:\n1. "first"\n2. "say \\"hi\\"\\nplease"\n\n[Follow-up messages from @bo]:\n1. "third"',
    );
  });
});
