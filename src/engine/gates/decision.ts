/** What somebody said to what was asked. */
export interface GateDecision {
  allowed: boolean;
  /** In the person's words. */
  reason: string | null;
  /** One for each question. */
  answers: string[] | null;
  scope: "once" | "session" | "always";
  /** Of a plan that is not approved as it is: another one is wanted. */
  revise?: boolean;
}

/** What became of a plan. */
export type PlanFate = "approved" | "revise" | "rejected" | "expired";
