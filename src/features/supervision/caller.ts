import type { SessionWriter } from "#engine/index.ts";
import { roleOf, type ToolCaller } from "#engine/tools/index.ts";
import { ROLE, refuse } from "./gates.ts";

/** Checks the role again, because supervisor mode may have been disabled since the verdict. */
export function requireLeads({ session }: ToolCaller): SessionWriter {
  if (roleOf(session.row) !== ROLE)
    throw refuse("supervisor_not_found", "Supervisor mode was disabled. You have no workers now.");
  return session;
}
