import { useEffect, useMemo } from "react";
import { openChildrenOf } from "#features/sessions/ui/list/list-search.ts";
import { listedSessions } from "#features/sessions/ui/list/session-list-cache.ts";
import { useSessionList } from "#features/sessions/ui/list/use-session-lists.ts";
import type { Session } from "#protocol/sessions.ts";

/** Pages of children that are read by themselves; what is beyond comes as the list is scrolled. */
const MAX_PAGES = 10;

/** Children that are not put away, however old they are; all pages of them are read. */
export function useOpenChildren(parentId: string | undefined): Session[] {
  const { data, hasNextPage, isFetching, fetchNextPage } = useSessionList(
    openChildrenOf(parentId ?? ""),
    parentId !== undefined,
  );
  const mayGoOn = hasNextPage && !isFetching && (data?.pages.length ?? 0) < MAX_PAGES;
  useEffect(() => {
    if (mayGoOn) void fetchNextPage();
  }, [mayGoOn, fetchNextPage]);
  return useMemo(() => listedSessions(data), [data]);
}
