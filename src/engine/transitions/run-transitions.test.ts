import { describe, expect, it } from "vitest";
import { LEASE_MS } from "#protocol/frames.ts";
import { RUN_STATES, type RunState } from "#protocol/runs.ts";
import { OUTCOMES, type Outcome } from "#protocol/sessions.ts";
import type { RunRow } from "../schema.ts";
import {
  createdRun,
  endStateOf,
  mayTransitionRun,
  RUN_TRANSITIONS,
  type RunEvent,
  transitionRun,
} from "./run-transitions.ts";

const NOW = 5_000;
const runner = { id: "rnr_1", boot_id: "boot_1" };
const EVENTS: Record<string, RunEvent> = {
  claim: { type: "claim", runner, serverId: "srv_1", now: NOW },
  start: { type: "start", now: NOW },
  ask: { type: "ask" },
  park: { type: "park" },
  yield: { type: "yield" },
  answer: { type: "answer" },
  stop: { type: "stop" },
  lose: { type: "lose" },
  ...Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, { type: "settle", outcome, now: NOW } as const]),
  ),
};

const run = (state: RunState, given: Partial<RunRow> = {}) =>
  ({
    ...createdRun(),
    id: "run_1",
    state,
    fence: 3,
    attempts: 2,
    runner_id: "rnr_0",
    runner_boot: "boot_0",
    lease_until: 1_000,
    stop_reason: null,
    ...given,
  }) as RunRow;

/** Next states when a runner holds the run and nobody has stopped it; every other pair is refused. */
const ALLOWED: Record<string, Partial<Record<RunState, RunState>>> = {
  claim: { pending: "claimed" },
  start: { claimed: "running" },
  ask: { claimed: "gated", running: "gated", gated: "gated" },
  park: { running: "gated", gated: "gated" },
  yield: { running: "pending", gated: "pending" },
  answer: { gated: "running" },
  stop: { claimed: "stopping", running: "stopping", gated: "stopping" },
  lose: { claimed: "pending", running: "pending", gated: "pending" },
  completed: liveTo("completed"),
  failed: liveTo("failed"),
  aborted: liveTo("stopped"),
  superseded: liveTo("stopped"),
  merged: {},
  withdrawn: {},
};

function liveTo(to: RunState): Partial<Record<RunState, RunState>> {
  return { pending: to, claimed: to, running: to, gated: to, stopping: to };
}

const pairs = Object.keys(EVENTS).flatMap((event) =>
  RUN_STATES.map((from) => ({ event, from, to: ALLOWED[event]?.[from] })),
);

describe("every state of a run and every event", () => {
  it.each(pairs)("$from by $event: $to", ({ event, from, to }) => {
    const happened = EVENTS[event] as RunEvent;
    expect(mayTransitionRun(run(from), happened)).toBe(to !== undefined);
    if (to === undefined)
      expect(() => transitionRun(run(from), happened)).toThrow(`is ${from} and cannot`);
    else expect(transitionRun(run(from), happened).state).toBe(to);
  });
});

describe("every row of the table", () => {
  const rows = RUN_TRANSITIONS.flatMap((row) =>
    row.from.map((from) => ({ ...row, from, condition: row.guard?.name ?? "always" })),
  );

  it.each(rows)("$from by $event to $to, $condition", ({ from, event, to, guard }) => {
    if (from === "none") return expect(createdRun().state).toBe(to);
    const happened = EVENTS[event] as RunEvent;
    const may = [run(from), run(from, { runner_id: null }), run(from, { stop_reason: "stop" })];
    const passing = may.filter((one) => guard?.holds(one) ?? true);
    expect(passing.length).toBeGreaterThan(0);
    for (const one of passing) expect(transitionRun(one, happened).state).toBe(to);
    for (const one of may.filter((other) => !passing.includes(other))) {
      const isAllowed = mayTransitionRun(one, happened);
      if (isAllowed) expect(transitionRun(one, happened).state).not.toBe(to);
    }
  });
});

describe("guards", () => {
  it("put a parked run in line when it is answered, and let a held one go on", () => {
    expect(transitionRun(run("gated", { runner_id: null }), { type: "answer" }).state).toBe(
      "pending",
    );
    expect(transitionRun(run("gated"), { type: "answer" }).state).toBe("running");
  });

  it("stop only what a runner holds", () => {
    expect(mayTransitionRun(run("gated", { runner_id: null }), { type: "stop" })).toBe(false);
  });

  it.each(["park", "yield", "lose"] as const)("let a stopped run end instead of: %s", (type) => {
    expect(mayTransitionRun(run("running", { stop_reason: "stop" }), { type })).toBe(false);
  });
});

describe("the hold on a run", () => {
  it("begins with a claim: a new fence, a lease, one more attempt", () => {
    expect(transitionRun(run("pending"), EVENTS.claim as RunEvent)).toEqual({
      state: "claimed",
      outcome: null,
      runner_id: "rnr_1",
      runner_boot: "boot_1",
      server_boot: "srv_1",
      fence: 4,
      attempts: 3,
      lease_until: NOW + LEASE_MS,
      claimed_at: NOW,
    });
  });

  it.each(["park", "yield"] as const)("ends without counting an attempt when turns %s", (type) => {
    expect(transitionRun(run("running"), { type })).toMatchObject({
      runner_id: null,
      runner_boot: null,
      lease_until: null,
      attempts: 1,
    });
  });

  it("ends with a loss, which stays counted and keeps on record which process had it", () => {
    const lost = transitionRun(run("running"), { type: "lose" });
    expect(lost).toMatchObject({ runner_id: null, lease_until: null });
    expect(lost).not.toHaveProperty("runner_boot");
    expect(lost).not.toHaveProperty("attempts");
  });

  it("ends with the settlement, under a fence that stays", () => {
    const settled = transitionRun(run("running"), EVENTS.aborted as RunEvent);
    expect(settled).toEqual({
      state: "stopped",
      outcome: "aborted",
      lease_until: null,
      settled_at: NOW,
    });
  });

  it("begins work once: later attempts keep the first start", () => {
    const start = EVENTS.start as RunEvent;
    expect(transitionRun(run("claimed"), start).started_at).toBe(NOW);
    expect(transitionRun(run("claimed", { started_at: 7 }), start).started_at).toBe(7);
  });
});

it.each<[Outcome, RunState]>([
  ["completed", "completed"],
  ["failed", "failed"],
  ["aborted", "stopped"],
  ["superseded", "stopped"],
  ["withdrawn", "stopped"],
])("a run that is %s ends as %s", (outcome, state) => {
  expect(endStateOf(outcome)).toBe(state);
});
