/**
 * Memory: short texts that a person's orchestrator keeps between conversations, and that sessions keep
 * about a repository. They are found by plain words, gain relevance when used and fade when not.
 */
import type { Feature } from "#engine/index.ts";
import { deleteRows, deleteScopes, listIdsOf } from "./queries.ts";
import { dropCounts, dropTerms } from "./ranking/term-queries.ts";
import { recall } from "./recall.ts";
import { memoryRoutes } from "./routes.ts";
import { memoryMigrations } from "./schema.ts";
import { memoriesToFind } from "./searchable.ts";
import { describeSessions, listen } from "./switch.ts";
import { memoryTools } from "./tools.ts";
import { pruneFaded, SWEEP_EVERY_MS } from "./writing/prune.ts";

const PURGED_AT_ONCE = 500;

export const memory: Feature = {
  name: "memory",
  migrations: memoryMigrations,
  listeners: [listen],
  describeSessions,
  routes: memoryRoutes,
  tools: memoryTools,
  searchable: [memoriesToFind],
  sweeps: [{ name: "memories that faded", everyMs: SWEEP_EVERY_MS, run: pruneFaded }],
  async brief(reader, session, prompt) {
    const lines = await recall(reader, session, prompt);
    return lines.length === 0
      ? undefined
      : { instructions: [], files: [], setup: null, recall: lines };
  },
  async purgePerson({ tx }, person) {
    const ids = await listIdsOf(tx, person, PURGED_AT_ONCE);
    await dropTerms(tx, ids);
    await deleteRows(tx, ids);
    if (ids.length === PURGED_AT_ONCE) return false;
    await dropCounts(tx, person);
    await deleteScopes(tx, person);
    return true;
  },
};

export { switchMemory } from "./switch.ts";
