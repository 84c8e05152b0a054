/**
 * The four axes of a session, kept apart: its lifecycle (stored), what its runs do (stored as
 * `run_state`), the activity people see, and the views other clients have. Everything shown is
 * derived here, by one table.
 *
 * | lifecycle             | run state                  | last outcome | activity   | status   | worker    |
 * |-----------------------|----------------------------|--------------|------------|----------|-----------|
 * | active                | none                       | none         | idle       | pending  | idle      |
 * | active                | none                       | completed    | done       | finished | idle      |
 * | active, orchestrator  | none                       | completed    | idle       | finished | idle      |
 * | active                | none                       | failed       | failed     | error    | idle      |
 * | active                | none                       | aborted …    | idle       | stopped  | idle      |
 * | active, queued        | none                       | any          | waiting    | as active| idle      |
 * | active, awaiting      | none                       | any          | waiting    | as active| idle      |
 * | active                | pending                    | –            | waiting    | pending  | idle      |
 * | active                | pending, lost              | –            | recovering | running  | idle      |
 * | active                | claimed, running           | –            | working    | running  | streaming |
 * | active                | held, runner away          | –            | recovering | as held  | streaming |
 * | active                | held, lease over           | –            | unknown    | as held  | streaming |
 * | active                | gated                      | –            | needs_you  | running  | streaming |
 * | active                | stopping                   | –            | working    | stopping | streaming |
 * | hibernated            | none                       | any          | asleep     | as active| cold      |
 * | archived, terminated  | none                       | none         | idle       | stopped  | cold      |
 * | archived, terminated  | none                       | any          | idle       | as active| cold      |
 */
import type { RunState } from "#protocol/runs.ts";
import type {
  Activity,
  Lifecycle,
  Outcome,
  SessionStatus,
  WorkerState,
} from "#protocol/sessions.ts";

/** Id of the session at the top of the tree: its own, when it has no parent. */
export function treeTop(row: {
  id: string;
  parent_session_id: string | null;
  root_session_id: string;
}): string {
  return row.parent_session_id === null ? row.id : row.root_session_id;
}

/**
 * Trouble of a live run:
 * - `lost`: the run was taken from its runner and waits for the next one;
 * - `runner_away`: the runner is not connected, and keeps the run until its lease ends;
 * - `lease_over`: the runner has been silent for longer than a lease, and nobody has taken over yet.
 */
export type RunTrouble = "lost" | "runner_away" | "lease_over";

export interface SessionFacts {
  lifecycle: Lifecycle;
  runState: RunState | null;
  trouble?: RunTrouble | null;
  lastOutcome: Outcome | null;
  /** True when the session ended its turn to wait for an event. */
  awaiting?: boolean;
  /** Number of waiting prompts. */
  queued?: number;
  isOrchestrator?: boolean;
}

export interface SessionView {
  activity: Activity;
  status: SessionStatus;
  worker: WorkerState;
}

const LIVE: Partial<Record<RunState, SessionView>> = {
  pending: { activity: "waiting", status: "pending", worker: "idle" },
  claimed: { activity: "working", status: "running", worker: "streaming" },
  running: { activity: "working", status: "running", worker: "streaming" },
  gated: { activity: "needs_you", status: "running", worker: "streaming" },
  stopping: { activity: "working", status: "stopping", worker: "streaming" },
};

const TROUBLED: Record<RunTrouble, Partial<SessionView>> = {
  lost: { activity: "recovering", status: "running" },
  runner_away: { activity: "recovering" },
  lease_over: { activity: "unknown" },
};

export function viewSession(facts: SessionFacts): SessionView {
  const { lifecycle, runState, trouble, lastOutcome } = facts;
  const live = runState && LIVE[runState];
  if (live) return trouble ? { ...live, ...TROUBLED[trouble] } : live;
  if (lifecycle === "archived" || lifecycle === "terminated") {
    return { activity: "idle", status: endedStatus(lastOutcome), worker: "cold" };
  }
  const status = restingStatus(lastOutcome);
  if (lifecycle === "hibernated") return { activity: "asleep", status, worker: "cold" };
  return { activity: restingActivity(facts, status), status, worker: "idle" };
}

function restingActivity(
  { awaiting = false, queued = 0, isOrchestrator = false }: SessionFacts,
  status: SessionStatus,
): Activity {
  if (awaiting || queued > 0) return "waiting";
  if (status === "error") return "failed";
  return status === "finished" && !isOrchestrator ? "done" : "idle";
}

function restingStatus(outcome: Outcome | null): SessionStatus {
  if (outcome === null) return "pending";
  if (outcome === "completed") return "finished";
  return outcome === "failed" ? "error" : "stopped";
}

/** A session that was archived without any turn has nothing to begin with any more. */
function endedStatus(outcome: Outcome | null): SessionStatus {
  return outcome === null ? "stopped" : restingStatus(outcome);
}
