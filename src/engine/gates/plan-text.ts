/** Renders the result of a presented plan for its agent; pure. */
import type { GateRow } from "../schema.ts";
import type { GateDecision, PlanFate } from "./decision.ts";

interface PlanDecision {
  allowed: boolean;
  fate: PlanFate;
  /** Words for the agent; a program can test the first one. */
  words: string;
}

type DecisionColumns = Pick<GateRow, "decision" | "decided_by">;

/** Reads the decision of a closed gate. Without a decision nobody answered in time. */
export function planDecision({ decision, decided_by }: DecisionColumns): PlanDecision {
  if (decision === null) return { allowed: false, fate: "expired", words: EXPIRED };
  const { allowed, reason, revise = false, overruled } = JSON.parse(decision) as GateDecision;
  if (overruled) return { allowed: false, fate: "rejected", words: overruledWords(reason) };
  const who = decided_by?.startsWith("session:") ? "Your parent" : "A person";
  const fate = allowed ? "approved" : revise ? "revise" : "rejected";
  return { allowed, fate, words: WORDS[fate](who, reason === null ? "" : ` “${reason}”`) };
}

function overruledWords(reason: string | null): string {
  return `rejected: ${reason ?? "Presenting a plan is no longer allowed."} Do not carry out the plan. End your turn and say so.`;
}

type RenderDecision = (who: string, said: string) => string;

const WORDS: Record<Exclude<PlanFate, "expired">, RenderDecision> = {
  approved: (who, said) =>
    `approved: ${who} approved your plan.${said === "" ? "" : ` They add:${said}`} Carry it out as it is. If you must do something else, present a new plan first.`,
  revise: (who, said) =>
    `revise: ${who} sent your plan back:${said === "" ? " without a comment." : said} Nothing is approved yet. Revise the plan and call request_plan_approval again with the whole new plan.`,
  rejected: (who, said) =>
    `rejected: ${who} rejected your plan.${said === "" ? "" : ` They said:${said}`} Do not carry it out. If they ask for another approach, present a plan for that; otherwise end your turn with what you know.`,
};
const EXPIRED =
  "expired: Nobody decided on your plan in time, so it is not approved. Do not carry it out. End your turn and say that it is waiting for a decision.";
