/**
 * Search: one box over sessions, their transcripts, and everything that features make searchable.
 * Search knows no feature: each declares in `searchable` what can be found and by whom.
 */
import type { Feature } from "#engine/index.ts";
import { createIndexer } from "./indexing/indexer.ts";
import { purgeDocuments } from "./indexing/purge.ts";
import { sessionsToFind, sourcesOf } from "./indexing/sources.ts";
import { searchRoutes } from "./routes.ts";
import { searchMigrations } from "./schema.ts";

/**
 * Creates the feature. `features`: all others.
 * Search comes after them in the list, because its triggers watch their tables.
 */
export function createSearch(features: readonly Feature[]): Feature {
  const searchables = [sessionsToFind, ...features.flatMap(({ searchable }) => searchable ?? [])];
  const sources = sourcesOf(searchables);
  const indexer = createIndexer(sources);
  return {
    name: "search",
    migrations: searchMigrations(searchables),
    routes: searchRoutes(sources),
    listeners: [indexer.listener],
    sweeps: [indexer.sweep],
    purgePerson: (work, person) => purgeDocuments(work, sources, person),
  };
}
