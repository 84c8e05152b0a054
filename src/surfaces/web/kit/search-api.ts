/** The one call of the search. */
import type { SearchKind, SearchPage } from "#features/search/contract.ts";
import { callApi } from "./api-client.ts";

export interface SearchFor {
  words: string;
  /** None: all of them. */
  kinds: readonly SearchKind[];
}

const PAGE_LIMIT = 20;

export const searchApi = {
  search: ({ words, kinds }: SearchFor, cursor: string | undefined, signal: AbortSignal) =>
    callApi<SearchPage>("/api/search", {
      query: { q: words, kinds: kinds.join(","), limit: PAGE_LIMIT, cursor },
      signal,
    }),
};
