/** Activity text of a tree row besides its state. Pure. */
import type { Child } from "#features/delegation/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";

const WITHOUT_TEXT: ReadonlySet<string> = new Set(["waiting", "unknown"]);

/** Texts for children that may not change anything yet. */
const PLAN_WORDS: Partial<Record<Child["planState"], string>> = {
  required: "planning",
  pending: "plan ready for review",
  revise: "revising the plan",
  rejected: "plan rejected",
};

/** Returns the question to a person, else plan, changes and last action. Null: the state says it all. */
export function currentActionWords(
  { activity }: Pick<Session, "activity">,
  child: (Pick<Child, "doing" | "changedFiles"> & Partial<Pick<Child, "planState">>) | undefined,
  pendingApproval: Pick<Approval, "kind" | "tool" | "target"> | undefined,
): string | null {
  if (activity === "needs_you" && pendingApproval) return askWords(pendingApproval);
  if (!child || WITHOUT_TEXT.has(activity)) return null;
  const changed = child.changedFiles ? `${child.changedFiles} changed` : "";
  const isBusy = activity === "working" || activity === "recovering" || activity === "needs_you";
  const plan = child.planState === undefined ? "" : (PLAN_WORDS[child.planState] ?? "");
  const parts = isBusy ? [plan, child.doing] : [plan, changed, child.doing];
  return parts.filter(Boolean).join(" · ") || null;
}

function askWords({ kind, tool, target }: Pick<Approval, "kind" | "tool" | "target">): string {
  if (kind === "question") return "has a question for you";
  if (kind === "plan") return "wants you to review its plan";
  return target === null || target === ""
    ? `wants to run ${tool}`
    : `wants to run ${tool}: ${target}`;
}
