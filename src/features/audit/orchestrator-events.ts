/** Names that other systems have for the events of an agent's loop; the trail can be asked by them. */
import type { AuditAction } from "./contract.ts";

export const ORCHESTRATOR_EVENTS = [
  "message_start",
  "tool_call",
  "tool_result",
  "message_complete",
  "error",
] as const;
export type OrchestratorEvent = (typeof ORCHESTRATOR_EVENTS)[number];

/** Resolves a name of either kind. */
export function actionsNamed(name: AuditAction | OrchestratorEvent): readonly AuditAction[] {
  return Object.hasOwn(ACTIONS_OF, name)
    ? ACTIONS_OF[name as OrchestratorEvent]
    : [name as AuditAction];
}

/** A call is recorded once, when it has ended or was refused; until then the session's log has it. */
export const ACTIONS_OF: Readonly<Record<OrchestratorEvent, readonly AuditAction[]>> = {
  message_start: ["message_received"],
  tool_call: ["tool_executed", "tool_denied"],
  tool_result: ["tool_executed"],
  message_complete: ["message_complete"],
  error: ["message_error"],
};
