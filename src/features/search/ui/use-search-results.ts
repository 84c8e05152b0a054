import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type SearchFor } from "#surfaces/web/kit/api/query-keys.ts";

/** Typing pause before a query is sent. */
const TYPING_PAUSE_MS = 180;
const RESULTS_LIMIT = 20;

/** Returns the query after a typing pause; at once when the field is cleared. */
export function useSettled(words: string): string {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(words), words === "" ? 0 : TYPING_PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [words]);
  return settled;
}

/** Keeps the last results until the next arrive; an outdated query is cancelled. */
export function useSearchResults(wanted: SearchFor) {
  return useInfiniteQuery({
    queryKey: keys.search(wanted),
    queryFn: ({ pageParam, signal }) =>
      api.search.find(
        {
          query: {
            q: wanted.words,
            kinds: wanted.kinds.join(","),
            limit: RESULTS_LIMIT,
            cursor: pageParam,
          },
        },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    enabled: wanted.words !== "",
    placeholderData: keepPreviousData,
    // A query that timed out once would time out again.
    retry: false,
  });
}
