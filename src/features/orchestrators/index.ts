/**
 * Orchestrators: everybody's own lasting agent. Identity, creation and recovery, instructions, and
 * the preferences and settings of people and admins.
 */
import type { Feature } from "#engine/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { brief } from "./brief.ts";
import { listen } from "./listen.ts";
import { deleteAllOf } from "./queries.ts";
import { orchestratorRoutes } from "./routes.ts";
import { reviveDead } from "./running/revive-dead.ts";
import { orchestratorMigrations } from "./schema.ts";
import { createOrchestratorTools } from "./tools/index.ts";

const REVIVE_EVERY_MS = 10_000;

/** `publicUrl`: address at which people reach the server. */
export function createOrchestrators({
  publicUrl,
}: {
  publicUrl?: string | undefined;
} = {}): Feature {
  return {
    name: "orchestrators",
    migrations: orchestratorMigrations,
    listeners: [listen],
    routes: orchestratorRoutes,
    tools: createOrchestratorTools({ publicUrl }),
    sweeps: [{ name: "orchestrators that ended", everyMs: REVIVE_EVERY_MS, run: reviveDead }],
    brief,
    hasBrief: (session) => isOrchestrator(session),
    async purgePerson(work, person) {
      await deleteAllOf(work.tx, person);
      return true;
    },
  };
}

export { findByHandle, findIdentity } from "./queries.ts";
export { ensureRunning } from "./running/ensure-running.ts";
