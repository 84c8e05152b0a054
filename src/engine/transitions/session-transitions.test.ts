import { describe, expect, it } from "vitest";
import type { RunState } from "#protocol/runs.ts";
import { LIFECYCLES, type Lifecycle, type SessionKind } from "#protocol/sessions.ts";
import type { SessionRow } from "../schema.ts";
import {
  createdSession,
  LIFECYCLE_TRANSITIONS,
  type LifecycleEvent,
  mayTransitionSession,
  showLastTurn,
  showLiveRuns,
  showMovedRun,
  transitionSession,
} from "./session-transitions.ts";

const NOW = 5_000;
const session = (lifecycle: Lifecycle, kind: SessionKind = "orchestrator") =>
  ({ ...createdSession(), id: "ses_1", lifecycle, kind, archived_at: 7 }) as SessionRow;

/** Next lifecycles of an orchestrator; every other pair is refused. */
const ALLOWED: Record<LifecycleEvent, Partial<Record<Lifecycle, Lifecycle>>> = {
  create: {},
  sleep: { active: "hibernated" },
  wake: { hibernated: "active", archived: "active" },
  archive: { active: "archived", hibernated: "archived" },
  terminate: { active: "terminated", hibernated: "terminated", archived: "terminated" },
  revive: { hibernated: "active", archived: "active", terminated: "active" },
  revive_asleep: { archived: "hibernated", terminated: "hibernated" },
  restart: { active: "active" },
};
const EVENTS = Object.keys(ALLOWED) as LifecycleEvent[];

describe("every lifecycle and every event", () => {
  const pairs = EVENTS.flatMap((event) =>
    LIFECYCLES.map((from) => ({ event, from, to: ALLOWED[event][from] })),
  );

  it.each(pairs)("$from by $event: $to", ({ event, from, to }) => {
    expect(mayTransitionSession(session(from), event)).toBe(to !== undefined);
    if (to === undefined)
      expect(() => transitionSession(session(from), event, NOW)).toThrow(`is ${from} and cannot`);
    else expect(transitionSession(session(from), event, NOW).lifecycle).toBe(to);
  });
});

describe("every row of the table", () => {
  const rows = LIFECYCLE_TRANSITIONS.flatMap((row) => row.from.map((from) => ({ ...row, from })));

  it.each(rows)("$from by $event to $to", ({ from, event, to, guard }) => {
    if (from === "none") return expect(createdSession().lifecycle).toBe(to);
    const changed = transitionSession(session(from), event, NOW);
    expect(changed.lifecycle).toBe(to);
    const hasEnded = to === "archived" || to === "terminated";
    expect(changed.archived_at).toBe(hasEnded ? NOW : null);
    expect(mayTransitionSession(session(from, "task"), event)).toBe(guard === undefined);
  });
});

describe("the life of a session", () => {
  it("never comes back from termination, but for orchestrators", () => {
    for (const event of EVENTS)
      expect(mayTransitionSession(session("terminated", "task"), event)).toBe(false);
    expect(mayTransitionSession(session("terminated", "org_orchestrator"), "revive")).toBe(true);
  });

  it("counts an incarnation for each revival and restart, not for waking up", () => {
    const incarnationAfter = (from: Lifecycle, event: LifecycleEvent) =>
      transitionSession(session(from), event, NOW).incarnation;
    expect(incarnationAfter("terminated", "revive")).toBe(2);
    expect(incarnationAfter("archived", "revive_asleep")).toBe(2);
    expect(incarnationAfter("active", "restart")).toBe(2);
    expect(incarnationAfter("hibernated", "revive")).toBe(1);
    expect(incarnationAfter("hibernated", "wake")).toBe(1);
  });
});

describe("several live runs", () => {
  it.each<[RunState[], RunState | null]>([
    [["pending", "running", "gated"], "gated"],
    [["pending", "claimed"], "claimed"],
    [["running", "stopping"], "stopping"],
    [[], null],
  ])("%j show as %s", (live, shown) => {
    expect(showLiveRuns(live).run_state).toBe(shown);
  });

  it.each([
    ["one run at a time", 1, "pending", "claimed"],
    ["threads, none further", 0, "pending", "claimed"],
    ["threads, one further", 0, "gated", "gated"],
  ] as const)("shows a run that moved on: %s", (_name, exclusive, run_state, shown) => {
    const row = { exclusive, run_state } as SessionRow;
    expect(showMovedRun(row, "pending", "claimed").run_state).toBe(shown);
  });
});

describe("the last turn", () => {
  const error = { code: "model_failed", message: "No answer." };

  it("shows why it failed, and nothing when it did not", () => {
    expect(showLastTurn("failed", error)).toEqual({
      last_outcome: "failed",
      last_error_code: "model_failed",
      last_error_message: "No answer.",
    });
    expect(showLastTurn("aborted", error)).toEqual({
      last_outcome: "aborted",
      last_error_code: null,
      last_error_message: null,
    });
  });
});
