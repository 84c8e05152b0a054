/**
 * Orchestrators: everybody's own lasting agent. Who it is, how it comes to be and comes back, what it
 * is told, and what people and admins can settle about it.
 */
import type { Feature } from "#engine/index.ts";
import { brief } from "./brief.ts";
import { listen } from "./listen.ts";
import { deleteAllOf } from "./queries.ts";
import { orchestratorRoutes } from "./routes.ts";
import { reviveDead } from "./running/revive-dead.ts";
import { orchestratorMigrations } from "./schema.ts";
import { createOrchestratorTools } from "./tools/index.ts";

const REVIVE_EVERY_MS = 10_000;

/** `publicUrl`: where people reach the server. */
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
    async purgePerson(work, person) {
      await deleteAllOf(work.tx, person);
      return true;
    },
  };
}

export { findByHandle, findIdentity } from "./queries.ts";
export { ensureRunning } from "./running/ensure-running.ts";
