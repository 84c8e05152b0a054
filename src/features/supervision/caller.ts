/** Whose call it is, made sure of once more when it is performed, and its trace. */
import type { SessionWriter, Work } from "#engine/index.ts";
import { roleOf, type ToolCaller } from "#engine/tools/index.ts";
import { note, type OrchestrationAction } from "#features/delegation/index.ts";
import { refuse } from "./gates.ts";

/** Supervisor mode may have been disabled between the verdict and now. */
export function requireLeads({ session }: ToolCaller): SessionWriter {
  if (roleOf(session.row) !== "supervisor")
    throw refuse("supervisor_not_found", "Supervisor mode was disabled. You have no workers now.");
  return session;
}

export function trace(
  work: Work,
  { session }: ToolCaller,
  action: OrchestrationAction,
  childId?: string,
): Promise<void> {
  const by = `session:${session.row.id}`;
  return note(work, session.row, { action, by, ...(childId === undefined ? {} : { childId }) });
}
