/**
 * States of a session's head row: its lifecycle, by a table; the state of its most telling run and
 * the end of its last turn, which follow from its runs.
 */
import type { RunState } from "#protocol/runs.ts";
import { isOrchestrator, type Lifecycle, type Outcome } from "#protocol/sessions.ts";
import type { SessionRow } from "../schema.ts";
import { findNext, firstState, type Guard, type TransitionTable } from "./table.ts";

export type LifecycleEvent = "create" | "sleep" | "wake" | "archive" | "terminate" | Revival;
/** `revive_asleep`: nobody asked for a turn. `restart`: the session is well, and begins anew. */
type Revival = "revive" | "revive_asleep" | "restart";

type Kind = Pick<SessionRow, "kind">;

/** Orchestrators never end for good. */
const orchestrator: Guard<Kind> = { name: "it is an orchestrator", holds: isOrchestrator };

export const LIFECYCLE_TRANSITIONS: TransitionTable<Lifecycle, LifecycleEvent, Kind> = [
  { from: ["none"], event: "create", to: "active" },
  { from: ["active"], event: "sleep", to: "hibernated" },
  { from: ["hibernated", "archived"], event: "wake", to: "active" },
  { from: ["active", "hibernated"], event: "archive", to: "archived" },
  { from: ["active", "hibernated", "archived"], event: "terminate", to: "terminated" },
  {
    from: ["hibernated", "archived", "terminated"],
    event: "revive",
    to: "active",
    guard: orchestrator,
  },
  {
    from: ["archived", "terminated"],
    event: "revive_asleep",
    to: "hibernated",
    guard: orchestrator,
  },
  { from: ["active"], event: "restart", to: "active", guard: orchestrator },
];

/** Columns that a change of lifecycle sets. */
export type LifecycleChange = Pick<SessionRow, "lifecycle" | "archived_at" | "incarnation">;

/** State of a session without a turn. */
export function createdSession() {
  return {
    lifecycle: firstState(LIFECYCLE_TRANSITIONS, "create"),
    archived_at: null,
    incarnation: 1,
    run_state: null,
    last_outcome: null,
    last_error_code: null,
    last_error_message: null,
  } satisfies Partial<SessionRow>;
}

export function mayTransitionSession(session: SessionRow, event: LifecycleEvent): boolean {
  return findNext(LIFECYCLE_TRANSITIONS, session.lifecycle, event, session) !== undefined;
}

/** Columns to set when this event happens to a session. */
export function transitionSession(
  session: SessionRow,
  event: LifecycleEvent,
  now: number,
): LifecycleChange {
  const lifecycle = findNext(LIFECYCLE_TRANSITIONS, session.lifecycle, event, session);
  if (lifecycle === undefined)
    throw new Error(`session ${session.id} is ${session.lifecycle} and cannot ${event}`);
  const hasEnded = lifecycle === "archived" || lifecycle === "terminated";
  return {
    lifecycle,
    archived_at: hasEnded ? now : null,
    incarnation: session.incarnation + (isNewIncarnation(session, event) ? 1 : 0),
  };
}

/** A session that was only asleep continues its incarnation. */
function isNewIncarnation({ lifecycle }: SessionRow, event: LifecycleEvent): boolean {
  const isRevival = event === "revive" || event === "revive_asleep" || event === "restart";
  return isRevival && lifecycle !== "hibernated";
}

/** Order of run states: a session with several live runs shows the first that one of them has. */
const RUN_STATE_PRIORITY: readonly RunState[] = [
  "gated",
  "stopping",
  "running",
  "claimed",
  "pending",
];

/** Column to set when live runs of a session have changed; `live` holds the states of all of them. */
export function showLiveRuns(live: readonly RunState[]): Pick<SessionRow, "run_state"> {
  return { run_state: RUN_STATE_PRIORITY.find((state) => live.includes(state)) ?? null };
}

/**
 * Column to set when one live run of a session has moved on and the others were not read. Threads
 * that run side by side may have a more telling state; `from` is the previous state of the run.
 */
export function showMovedRun(
  { exclusive, run_state }: SessionRow,
  from: RunState,
  to: RunState,
): Pick<SessionRow, "run_state"> {
  return { run_state: exclusive === 1 || run_state === from ? to : run_state };
}

/** Columns to set when a turn of a session has ended. */
export function showLastTurn(
  outcome: Outcome,
  error: { code: string | null; message: string | null },
): Pick<SessionRow, "last_outcome" | "last_error_code" | "last_error_message"> {
  const hasFailed = outcome === "failed";
  return {
    last_outcome: outcome,
    last_error_code: hasFailed ? error.code : null,
    last_error_message: hasFailed ? error.message : null,
  };
}
