/**
 * A child whose plan is not approved may change nothing. It may use read-only tools, and the tools
 * listed here for talking to its parent and others. Any other tool is refused, including new ones.
 */
import type { Judge } from "#engine/tools/index.ts";
import { REQUEST_PLAN_APPROVAL } from "#protocol/tools.ts";
import { findPlan, isHeldByPlan } from "./plan.ts";

/** Tools that are not read-only but harmless: they change no files and nothing outside the tree. */
export const BEFORE_A_PLAN: ReadonlySet<string> = new Set([
  "ask_user_question",
  REQUEST_PLAN_APPROVAL,
  "notify_parent",
  "complete_session",
  "task_create",
  "task_update",
  "mailbox_send",
  "mailbox_check",
  "emit_notification",
]);

const WHAT_NEXT = {
  none: "Look around with read-only tools, then call request_plan_approval with the whole plan.",
  pending: "Your plan is waiting for a decision. End your turn: you are woken when it is decided.",
  revise: "Your plan was sent back: revise it as requested and present it again.",
  rejected:
    "Your plan was rejected: present another one if that is wanted, or end your turn and say why there is none.",
  expired:
    "Nobody decided on your plan in time: present it again, or end your turn and say that it is waiting.",
} as const;

export const judgePlan: Judge = async (work, { session: { row }, tool, readOnly, isAgain }) => {
  const plan = await findPlan(work.tx, row);
  if (!plan) return undefined;
  // Only one plan may be pending; with two, nobody could say which one was approved.
  if (tool === REQUEST_PLAN_APPROVAL && !isAgain && plan.state === "pending")
    return { verdict: "deny", reason: `plan_pending: ${WHAT_NEXT.pending}` };
  if (!isHeldByPlan(plan) || readOnly || BEFORE_A_PLAN.has(tool)) return undefined;
  const state = plan.state === null || plan.state === "approved" ? "none" : plan.state;
  const reason = `plan_not_approved: ${tool} may change something, and you have no approved plan. ${WHAT_NEXT[state]}`;
  return { verdict: "deny", reason };
};
