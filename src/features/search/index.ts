/**
 * Search: one box over sessions, what was said in them, and everything else that features let be
 * found. It knows no feature: each says in `searchable` what of it can be found and by whom.
 */
import type { Feature } from "#engine/index.ts";
import { createIndexer } from "./indexing/indexer.ts";
import { purgeDocuments } from "./indexing/purge.ts";
import { sessionsToFind, sourcesOf } from "./indexing/sources.ts";
import { searchRoutes } from "./routes.ts";
import { searchMigrations } from "./schema.ts";

/** `features`: all others. It goes after them in the list: it watches over tables of theirs. */
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
