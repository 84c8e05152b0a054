import { useEffect, useMemo } from "react";
import { openChildrenOf } from "#features/sessions/ui/list/list-search.ts";
import { listedSessions } from "#features/sessions/ui/list/session-list-cache.ts";
import { useSessionList } from "#features/sessions/ui/list/use-session-lists.ts";
import type { Session } from "#protocol/sessions.ts";

/** Limit of pages of children read automatically; scrolling the list brings the rest. */
const MAX_PAGES = 10;

/** Loads a parent's open children, up to `MAX_PAGES` pages, however old they are. */
export function useOpenChildren(parentId: string | undefined): Session[] {
  const { data, hasNextPage, isFetching, fetchNextPage } = useSessionList(
    openChildrenOf(parentId ?? ""),
    parentId !== undefined,
  );
  const mayFetchMore = hasNextPage && !isFetching && (data?.pages.length ?? 0) < MAX_PAGES;
  useEffect(() => {
    if (mayFetchMore) void fetchNextPage();
  }, [mayFetchMore, fetchNextPage]);
  return useMemo(() => listedSessions(data), [data]);
}
