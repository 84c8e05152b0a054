import { defineRoute, type Route } from "#engine/index.ts";
import { searchPageSchema, searchQuery } from "./contract.ts";
import { search } from "./search.ts";
import { SearchTurns } from "./search-turns.ts";
import type { Sources } from "./sources.ts";

export function searchRoutes(sources: Sources): readonly Route[] {
  const turns = new SearchTurns();
  return [
    defineRoute({
      method: "get",
      path: "/api/search",
      summary: "Find what you may see by plain words, the best match first",
      tag: "Search",
      query: searchQuery,
      response: searchPageSchema,
      handle: ({ engine, principal, query }) =>
        search({ engine, sources, turns }, principal, query),
    }),
  ];
}
