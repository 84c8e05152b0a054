/** States of a task and the transitions between them. Pure, and the only place that defines them. */
import { Refusal } from "#base/refusal.ts";
import type { TaskStatus } from "../contract.ts";

export interface StatusFacts {
  status: TaskStatus;
  /** Reason of a block by hand; null: not blocked by hand. */
  blockedReason: string | null;
  /** Blockers that are not completed. */
  openBlockers: readonly string[];
}

export interface StatusRequest {
  status?: TaskStatus | undefined;
  blockedReason?: string | undefined;
  /** Used as the reason of a block that names none. */
  result?: string | null | undefined;
}

/** Placeholder reason: a task blocked by hand always has one. */
const NO_REASON = "No reason was given.";

export function isSettled(status: TaskStatus): boolean {
  return status === "completed" || status === "failed";
}

type NextStatus = Pick<StatusFacts, "status" | "blockedReason">;

export function nextStatus(facts: StatusFacts, request: StatusRequest): NextStatus {
  const { openBlockers } = facts;
  const waits = openBlockers.length > 0;
  if (request.status === undefined) return derivedStatus(facts, request);
  if (request.status === "blocked") return blocked(facts, request);
  if (request.blockedReason !== undefined) throw REASON_ALONE();
  if (request.status === "pending")
    return { status: waits ? "blocked" : "pending", blockedReason: null };
  // Work that had begun goes on when one of its blockers is reopened.
  const mustBeFree = request.status !== "failed" && request.status !== facts.status;
  if (waits && mustBeFree) throw stillBlocked(openBlockers);
  return { status: request.status, blockedReason: null };
}

/** Derives the status from the blockers when the change names none. */
function derivedStatus(
  { status, blockedReason, openBlockers }: StatusFacts,
  request: StatusRequest,
): NextStatus {
  if (request.blockedReason !== undefined && blockedReason === null) throw REASON_ALONE();
  if (isSettled(status)) return { status, blockedReason: null };
  const reason = request.blockedReason ?? blockedReason;
  if (reason !== null || openBlockers.length > 0)
    return { status: "blocked", blockedReason: reason };
  return { status: status === "blocked" ? "pending" : status, blockedReason: null };
}

function blocked({ blockedReason, openBlockers }: StatusFacts, request: StatusRequest): NextStatus {
  const reason = request.blockedReason ?? blockedReason;
  if (reason !== null || openBlockers.length > 0)
    return { status: "blocked", blockedReason: reason };
  return { status: "blocked", blockedReason: request.result?.trim() || NO_REASON };
}

const REASON_ALONE = () =>
  new Refusal(
    "invalid",
    "blocked_reason_unused",
    "Only a blocked task has a reason. Put the outcome of the task into its result.",
  );

export function stillBlocked(openBlockers: readonly string[]): Refusal {
  return new Refusal(
    "conflict",
    "task_blocked",
    `This task waits for ${openBlockers.join(", ")}. Complete that first, or change what it waits for.`,
  );
}
