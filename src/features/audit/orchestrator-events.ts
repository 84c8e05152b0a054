/** The events of an agent's loop, as other systems name them, and what the trail calls them. */
import type { AuditAction } from "./contract.ts";

export const ORCHESTRATOR_EVENTS = [
  "message_start",
  "tool_call",
  "tool_result",
  "message_complete",
  "error",
] as const;
export type OrchestratorEvent = (typeof ORCHESTRATOR_EVENTS)[number];

/** A call is recorded once, when it has ended or was refused; until then the session's log has it. */
export const ACTIONS_OF: Readonly<Record<OrchestratorEvent, readonly AuditAction[]>> = {
  message_start: ["message_received"],
  tool_call: ["tool_executed", "tool_denied"],
  tool_result: ["tool_executed"],
  message_complete: ["message_complete"],
  error: ["message_error"],
};
