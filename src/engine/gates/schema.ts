/** Table of gates. */
import type { GateKind } from "#protocol/tools.ts";

export interface GateRow {
  id: string;
  org_id: string;
  session_id: string;
  thread: string;
  prompt_id: string;
  run_id: string;
  call_id: string;
  kind: GateKind;
  tool: string;
  target: string | null;
  shown: string;
  state: "pending" | "decided" | "expired" | "cancelled";
  decision: string | null;
  decided_by: string | null;
  asked_at: number;
  expires_at: number;
  decided_at: number | null;
  /** Fence of the attempt that first got the decision. */
  told_fence: number | null;
  /**
   * 1: no turn waits for the gate; the call is performed once allowed, and its result becomes a
   * prompt.
   */
  deferred: number;
}
