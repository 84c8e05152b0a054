/**
 * States of a run. The holder changes with the state: a claim begins a hold (runner, fence, lease),
 * and every event that takes the run from its runner ends it. Only renewals of the lease write
 * these columns elsewhere.
 */
import { LEASE_MS } from "#protocol/frames.ts";
import { LIVE_RUN_STATES, type RunState } from "#protocol/runs.ts";
import type { Outcome } from "#protocol/sessions.ts";
import type { RunRow } from "../schema.ts";
import { findNext, firstState, type Guard, type TransitionTable } from "./table.ts";

export const LIVE_STATES = LIVE_RUN_STATES;
/** States of runs that a runner may hold. A parked run is `gated` without a runner. */
export const HELD_STATES = [
  "claimed",
  "running",
  "gated",
  "stopping",
] as const satisfies readonly RunState[];

export function isHeldState(state: RunState): boolean {
  return (HELD_STATES as readonly RunState[]).includes(state);
}

/** Outcomes of prompts that had a run. */
type RunOutcome = Extract<Outcome, "completed" | "failed" | "aborted" | "superseded">;
const RUN_OUTCOMES: readonly RunOutcome[] = ["completed", "failed", "aborted", "superseded"];

export type RunEvent =
  /** A runner takes the run, under a new fence. */
  | { type: "claim"; runner: { id: string; boot_id: string }; serverId: string; now: number }
  /** The runner has written for the first time in this attempt. */
  | { type: "start"; now: number }
  /** The turn asks somebody, and its runner keeps it. */
  | { type: "ask" }
  /** The turn asks somebody, and releases its runner. */
  | { type: "park" }
  /** The turn releases its runner, and is queued again. */
  | { type: "yield" }
  /** Everything the turn had asked is answered. */
  | { type: "answer" }
  /** The runner is told to end the turn. */
  | { type: "stop" }
  /** The runner is gone; the turn is tried again. */
  | { type: "lose" }
  /** The turn is over. */
  | { type: "settle"; outcome: Outcome; now: number };

/** An event as the table names it: a settlement by its outcome. */
export type RunEventName = "create" | Exclude<RunEvent["type"], "settle"> | RunOutcome;

type Held = Pick<RunRow, "runner_id" | "stop_reason">;

const held: Guard<Held> = { name: "a runner holds it", holds: (run) => run.runner_id !== null };
const parked: Guard<Held> = { name: "no runner holds it", holds: (run) => run.runner_id === null };
/** A turn that was told to end does not wait or begin again. */
const notStopped: Guard<Held> = {
  name: "nobody has stopped it",
  holds: (run) => run.stop_reason === null,
};

export const RUN_TRANSITIONS: TransitionTable<RunState, RunEventName, Held> = [
  { from: ["none"], event: "create", to: "pending" },
  { from: ["pending"], event: "claim", to: "claimed" },
  { from: ["claimed"], event: "start", to: "running" },
  { from: ["claimed", "running", "gated"], event: "ask", to: "gated" },
  { from: ["running", "gated"], event: "park", to: "gated", guard: notStopped },
  { from: ["running", "gated"], event: "yield", to: "pending", guard: notStopped },
  { from: ["gated"], event: "answer", to: "running", guard: held },
  { from: ["gated"], event: "answer", to: "pending", guard: parked },
  { from: ["claimed", "running", "gated"], event: "stop", to: "stopping", guard: held },
  { from: ["claimed", "running", "gated"], event: "lose", to: "pending", guard: notStopped },
  { from: LIVE_STATES, event: "completed", to: "completed" },
  { from: LIVE_STATES, event: "failed", to: "failed" },
  { from: LIVE_STATES, event: "aborted", to: "stopped" },
  { from: LIVE_STATES, event: "superseded", to: "stopped" },
];

/** Columns that a transition may set. */
export type RunChange = Pick<RunRow, "state" | "outcome"> &
  Partial<
    Pick<
      RunRow,
      | "runner_id"
      | "runner_boot"
      | "server_boot"
      | "fence"
      | "attempts"
      | "lease_until"
      | "claimed_at"
      | "started_at"
      | "settled_at"
    >
  >;

/** State of a run that nobody has claimed. */
export function createdRun() {
  return {
    state: firstState(RUN_TRANSITIONS, "create"),
    outcome: null,
    runner_id: null,
    runner_boot: null,
    server_boot: null,
    fence: 0,
    attempts: 0,
    lease_until: null,
    claimed_at: null,
    started_at: null,
    settled_at: null,
  } satisfies RunChange;
}

export function mayTransitionRun(run: RunRow, event: RunEvent): boolean {
  return nextState(run, event) !== undefined;
}

/** Columns to set when this event happens to a run. */
export function transitionRun(run: RunRow, event: RunEvent): RunChange {
  const state = nextState(run, event);
  if (state === undefined)
    throw new Error(`run ${run.id} is ${run.state} and cannot ${nameOf(event) ?? event.type}`);
  return {
    state,
    outcome: event.type === "settle" ? event.outcome : null,
    ...holdAfter(run, event),
  };
}

/** Final state of runs with this outcome. */
export function endStateOf(outcome: Outcome): RunState {
  return outcome === "completed" || outcome === "failed" ? outcome : "stopped";
}

function nextState(run: RunRow, event: RunEvent): RunState | undefined {
  const name = nameOf(event);
  return name && findNext(RUN_TRANSITIONS, run.state, name, run);
}

function nameOf(event: RunEvent): RunEventName | undefined {
  if (event.type !== "settle") return event.type;
  return RUN_OUTCOMES.find((outcome) => outcome === event.outcome);
}

function holdAfter(run: RunRow, event: RunEvent): Omit<RunChange, "state" | "outcome"> {
  switch (event.type) {
    case "claim":
      return {
        runner_id: event.runner.id,
        runner_boot: event.runner.boot_id,
        server_boot: event.serverId,
        fence: run.fence + 1,
        attempts: run.attempts + 1,
        lease_until: event.now + LEASE_MS,
        claimed_at: event.now,
      };
    case "start":
      return { started_at: run.started_at ?? event.now };
    case "park":
    case "yield":
      // Releasing a runner does not count as an attempt.
      return { runner_id: null, runner_boot: null, lease_until: null, attempts: run.attempts - 1 };
    case "lose":
      // The boot of the runner stays on record: it tells a lost run from a parked one.
      return { runner_id: null, lease_until: null };
    case "settle":
      // The runner stays on record, so that a repeated settlement is recognised.
      return { lease_until: null, settled_at: event.now };
    default:
      return {};
  }
}
