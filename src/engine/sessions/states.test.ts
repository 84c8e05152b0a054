import { describe, expect, it } from "vitest";
import { type SessionFacts, viewSession } from "./states.ts";

const facts = (fields: Partial<SessionFacts>): SessionFacts => ({
  lifecycle: "active",
  runState: null,
  lastOutcome: null,
  ...fields,
});

describe("how a session is seen", () => {
  const rows: [string, Partial<SessionFacts>, string, string, string][] = [
    ["new", {}, "idle", "pending", "idle"],
    ["done", { lastOutcome: "completed" }, "done", "finished", "idle"],
    [
      "an orchestrator that is done",
      { lastOutcome: "completed", isOrchestrator: true },
      "idle",
      "finished",
      "idle",
    ],
    ["has more to do", { lastOutcome: "completed", queued: 1 }, "waiting", "finished", "idle"],
    [
      "waits for children",
      { lastOutcome: "completed", awaiting: true },
      "waiting",
      "finished",
      "idle",
    ],
    ["failed", { lastOutcome: "failed" }, "failed", "error", "idle"],
    ["stopped", { lastOutcome: "aborted" }, "idle", "stopped", "idle"],
    ["steered", { lastOutcome: "superseded" }, "idle", "stopped", "idle"],
    ["waits for a runner", { runState: "pending" }, "waiting", "pending", "idle"],
    ["taken over", { runState: "pending", trouble: "lost" }, "recovering", "running", "idle"],
    [
      "its runner is away",
      { runState: "running", trouble: "runner_away" },
      "recovering",
      "running",
      "streaming",
    ],
    [
      "its runner was silent for longer than a lease",
      { runState: "running", trouble: "lease_over" },
      "unknown",
      "running",
      "streaming",
    ],
    [
      "being stopped, its runner is silent",
      { runState: "stopping", trouble: "lease_over" },
      "unknown",
      "stopping",
      "streaming",
    ],
    ["claimed", { runState: "claimed" }, "working", "running", "streaming"],
    ["running", { runState: "running", lastOutcome: "failed" }, "working", "running", "streaming"],
    ["asks", { runState: "gated" }, "needs_you", "running", "streaming"],
    ["being stopped", { runState: "stopping" }, "working", "stopping", "streaming"],
    ["asleep", { lifecycle: "hibernated", lastOutcome: "completed" }, "asleep", "finished", "cold"],
    [
      "put away when finished",
      { lifecycle: "archived", lastOutcome: "completed" },
      "idle",
      "finished",
      "cold",
    ],
    [
      "put away after a failure",
      { lifecycle: "archived", lastOutcome: "failed" },
      "idle",
      "error",
      "cold",
    ],
    [
      "put away after a stop",
      { lifecycle: "archived", lastOutcome: "aborted" },
      "idle",
      "stopped",
      "cold",
    ],
    [
      "terminated when finished",
      { lifecycle: "terminated", lastOutcome: "completed" },
      "idle",
      "finished",
      "cold",
    ],
    ["terminated before a turn", { lifecycle: "terminated" }, "idle", "stopped", "cold"],
  ];
  it.each(rows)("%s", (_name, given, activity, status, worker) => {
    expect(viewSession(facts(given))).toEqual({ activity, status, worker });
  });
});
