import { type Route, serve } from "#engine/index.ts";
import { searchApi } from "./contract.ts";
import { search } from "./search.ts";
import { SearchTurns } from "./search-turns.ts";
import type { Sources } from "./sources.ts";

export function searchRoutes(sources: Sources): readonly Route[] {
  const turns = new SearchTurns();
  return [
    serve(searchApi.find, ({ engine, principal, query }) =>
      search({ engine, sources, turns }, principal, query),
    ),
  ];
}
