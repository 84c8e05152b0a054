import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type SearchFor } from "#surfaces/web/kit/api/query-keys.ts";

/** Who is still writing has another question in a moment. */
const ASK_AFTER_MS = 180;
const RESULTS_LIMIT = 20;

/** What is typed, once there was a pause; at once when the field is cleared. */
export function useSettled(words: string): string {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(words), words === "" ? 0 : ASK_AFTER_MS);
    return () => window.clearTimeout(timer);
  }, [words]);
  return settled;
}

/** What was found last stays in sight until the next is there; a question that is out of date is cancelled. */
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
    // What took too long once takes too long again.
    retry: false,
  });
}
