import { type Route, serve } from "#engine/index.ts";
import { searchApi } from "./contract.ts";
import type { Sources } from "./indexing/sources.ts";
import { search } from "./matching/search.ts";
import { SearchTurns } from "./matching/search-turns.ts";

export function searchRoutes(sources: Sources): readonly Route[] {
  const turns = new SearchTurns();
  return [
    serve(searchApi.find, ({ engine, principal, query }) =>
      search({ engine, sources, turns }, principal, query),
    ),
  ];
}
