/**
 * Supervision: a session that leads workers in the same project, at its owner's request. Delegation
 * implements the actions; this feature has the permissions, the tools and the routes.
 */
import { type Log, silentLog } from "#base/log.ts";
import type { Feature } from "#engine/index.ts";
import { roleOf } from "#engine/tools/index.ts";
import { DEFAULT_LIMITS } from "#features/delegation/index.ts";
import { BRIEF_FILE, supervisorBrief } from "./brief.ts";
import { ROLE, type SupervisionSettings } from "./gates.ts";
import { createListener } from "./listen.ts";
import { logLines } from "./log-lines.ts";
import { supervisionRoutes } from "./routes.ts";
import { supervisorTools } from "./tools.ts";

export interface SupervisionOptions extends Partial<SupervisionSettings> {
  log?: Log;
}

export function createSupervision({
  log = silentLog,
  disabledReason = null,
  workersPerSupervisor = DEFAULT_LIMITS.workersPerSupervisor,
  maxDepth = DEFAULT_LIMITS.maxDepth,
  allowDelete = false,
}: SupervisionOptions = {}): Feature {
  const settings = { disabledReason, workersPerSupervisor, maxDepth, allowDelete };
  const isOpen = disabledReason === null;
  return {
    name: "supervision",
    listeners: [logLines(log), createListener(settings)],
    routes: supervisionRoutes(settings),
    // A disabled mode registers no tools, so nobody is offered them and nobody can call them.
    tools: isOpen ? supervisorTools(settings) : [],
    hasBrief: (session) => roleOf(session) === ROLE,
    async brief(_reader, session) {
      if (!isOpen || roleOf(session) !== ROLE) return undefined;
      const content = supervisorBrief(workersPerSupervisor, session);
      return { instructions: [{ name: BRIEF_FILE, content }], files: [], setup: null };
    },
  };
}

export { disabledReason } from "./gates.ts";
