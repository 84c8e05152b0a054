/**
 * Plans of a child. The requirement and the state of the plan are in the session's row, which every
 * command that judges or decides has locked, so no extra query is needed.
 */
import { Refusal } from "#base/refusal.ts";
import { planDecision } from "#engine/gates/index.ts";
import type { Brief, GateRow, SessionRow, SessionWriter } from "#engine/index.ts";
import type { Child } from "../contract.ts";

type PlanRow = Pick<SessionRow, "plan_required" | "plan_state">;

/** True if the session may not change anything yet. */
export function isHeldByPlan({ plan_required, plan_state }: PlanRow): boolean {
  return plan_required === 1 && plan_state !== "approved";
}

export function viewPlan(row: PlanRow): Pick<Child, "requirePlanApproval" | "planState"> {
  const isRequired = row.plan_required === 1;
  return {
    requirePlanApproval: isRequired,
    planState: row.plan_state ?? (isRequired ? "required" : "none"),
  };
}

/** Requires a plan from now on, even during a turn: an approved plan no longer counts. */
export function askForPlan({ row }: SessionWriter): void {
  requirePlannable(row);
  row.plan_required = 1;
  if (row.plan_state !== "pending") row.plan_state = null;
}

/**
 * Refuses a runtime whose calls are not judged in advance, because a plan could not be enforced
 * there.
 */
export function requirePlannable({
  parent_session_id,
  runtime,
}: Pick<SessionRow, "parent_session_id" | "runtime">): void {
  if (parent_session_id === null)
    throw new Refusal(
      "invalid",
      "plan_needs_parent",
      "Only sessions with a parent present plans. Name a parent, or leave requirePlanApproval out.",
    );
  if (runtime === "native") return;
  throw new Refusal(
    "invalid",
    "plan_not_enforceable",
    "Calls of this runtime are not judged beforehand, so a plan could not be enforced. Use the native runtime, or leave requirePlanApproval out.",
  );
}

/** A new plan replaces the previous one. */
export function planOpened({ row }: SessionWriter, gate: GateRow): void {
  if (gate.kind === "plan" && row.parent_session_id !== null) row.plan_state = "pending";
}

/** A rejection binds every child, even one that needed no plan. */
export function planClosed({ row }: SessionWriter, gate: GateRow): void {
  if (gate.kind !== "plan" || row.parent_session_id === null) return;
  if (gate.state === "cancelled") {
    row.plan_state = null;
    return;
  }
  const { fate } = planDecision(gate);
  row.plan_state = fate;
  if (fate === "revise" || fate === "rejected") row.plan_required = 1;
}

export function forgetPlan({ row }: SessionWriter): void {
  row.plan_required = 0;
  row.plan_state = null;
}

/** Instructions for each turn of a child until its plan is approved. */
export function planBrief(row: PlanRow): Brief | undefined {
  if (!isHeldByPlan(row)) return undefined;
  return { instructions: [{ name: PLAN_FILE, content: PLAN_BRIEF }], files: [], setup: null };
}

const PLAN_FILE = "PLAN-FIRST.md";
const PLAN_BRIEF = `# A plan first

Whoever gave you this task wants to see your plan before anything is changed.

1. Look around with read-only tools: files, searches, pages. Ask what you must know.
2. Call request_plan_approval with the whole plan: what you will change and where, what you will leave
   alone, in which order, how you will check it, what could go wrong. Your turn waits for the decision.
3. If it is sent back, revise it as requested and present the whole plan again. If it is approved, carry
   it out as it is; if you must do something else, present a new plan.

Until you have an approved plan, everything that changes something is refused with plan_not_approved:
writing and editing files, commands, pushing, pull requests. Do not try to work around that.
`;
