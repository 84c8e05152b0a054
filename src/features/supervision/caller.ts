/** Whose call it is, made sure of once more when it is performed. */
import type { SessionWriter } from "#engine/index.ts";
import { roleOf, type ToolCaller } from "#engine/tools/index.ts";
import { refuse } from "./gates.ts";

/** Supervisor mode may have been disabled between the verdict and now. */
export function requireLeads({ session }: ToolCaller): SessionWriter {
  if (roleOf(session.row) !== "supervisor")
    throw refuse("supervisor_not_found", "Supervisor mode was disabled. You have no workers now.");
  return session;
}
