import { defineRoute, type Route } from "#engine/index.ts";
import { searchPageSchema, searchQuery } from "./contract.ts";
import { search } from "./search.ts";
import type { Sources } from "./sources.ts";

export function searchRoutes(sources: Sources): readonly Route[] {
  return [
    defineRoute({
      method: "get",
      path: "/api/search",
      summary: "Find what you may see by plain words, the best match first",
      tag: "Search",
      query: searchQuery,
      response: searchPageSchema,
      handle: ({ engine, principal, query }) => search(engine, sources, principal, query),
    }),
  ];
}
