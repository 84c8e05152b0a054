/** Answer of a person or parent to a gate. */
export interface GateDecision {
  allowed: boolean;
  /** Reason in the person's words. */
  reason: string | null;
  /** One answer for each question. */
  answers: string[] | null;
  scope: "once" | "session" | "always";
  /** True when a rule made meanwhile denies what was allowed; `reason` names it. */
  overruled?: boolean;
  /** Asks for another plan instead of the presented one. */
  revise?: boolean;
  /** Id of the gate whose longer-lasting decision also answered this one. */
  coveredBy?: string;
  /** Id of the prompt whose typed words are the answers. */
  promptId?: string;
  /**
   * True when the session moved to another machine before anybody acted on the approval, which ends
   * it.
   */
  moved?: boolean;
}

/** Result of a presented plan. */
export type PlanFate = "approved" | "revise" | "rejected" | "expired";

/** Rule that denied what somebody allowed, in words; null when none did. */
export function overruledReason({ decision }: { decision: string | null }): string | null {
  if (decision === null) return null;
  const { overruled, reason } = JSON.parse(decision) as GateDecision;
  return overruled ? (reason ?? "It is no longer allowed.") : null;
}
