/** Other systems' names for the events of an agent's loop, as actions of the trail. */
import type { ActionAlias, AuditAction } from "./contract.ts";

/** Resolves an action or an alias to actions. */
export function actionsNamed(name: AuditAction | ActionAlias): readonly AuditAction[] {
  return Object.hasOwn(ACTIONS_OF, name) ? ACTIONS_OF[name as ActionAlias] : [name as AuditAction];
}

/** A call is recorded once, when it has ended or was refused; until then only the session's log has it. */
export const ACTIONS_OF: Readonly<Record<ActionAlias, readonly AuditAction[]>> = {
  message_start: ["message_received"],
  tool_call: ["tool_executed", "tool_denied"],
  tool_result: ["tool_executed"],
  message_complete: ["message_complete"],
  error: ["message_error"],
};
