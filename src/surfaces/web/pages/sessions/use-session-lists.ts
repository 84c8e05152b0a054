import { type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Session } from "#protocol/sessions.ts";
import { api, type SessionFilter } from "#surfaces/web/kit/api.ts";
import { ApiError } from "#surfaces/web/kit/api-client.ts";
import { useLive } from "#surfaces/web/kit/live-context.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { placeSession, removeSession, type SessionPages } from "./session-list-cache.ts";

/** Hints come in bursts while an agent works; one look at each session per burst is enough. */
const GATHER_MS = 300;
const READ_ONE_BY_ONE = 6;

export function useSessionList(filter: SessionFilter) {
  return useInfiniteQuery({
    queryKey: keys.sessionList(filter),
    queryFn: ({ pageParam, signal }) => api.listSessions(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** Puts a session into its own cache entry and into every list that shows it. */
export function shareSession(queryClient: QueryClient, session: Session): void {
  queryClient.setQueryData(keys.session(session.id), { session });
  for (const [key, pages] of queryClient.getQueriesData<SessionPages>({
    queryKey: keys.sessionLists,
  })) {
    if (pages === undefined) continue;
    const placed = placeSession(pages, key[1] as SessionFilter, session);
    if (placed === undefined) void queryClient.invalidateQueries({ queryKey: key });
    else queryClient.setQueryData(key, placed);
  }
}

export function forgetSession(queryClient: QueryClient, id: string): void {
  for (const [key, pages] of queryClient.getQueriesData<SessionPages>({
    queryKey: keys.sessionLists,
  })) {
    if (pages) queryClient.setQueryData(key, removeSession(pages, id));
  }
}

async function readAgain(queryClient: QueryClient, id: string): Promise<void> {
  try {
    const { session } = await api.getSession(id);
    shareSession(queryClient, session);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) forgetSession(queryClient, id);
  }
}

/** Follows the `me` topic: what changed elsewhere shows up in the lists. */
export function useMyChanges(): void {
  const live = useLive();
  const queryClient = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: number | undefined;
    const refreshLists = () => void queryClient.invalidateQueries({ queryKey: keys.sessionLists });
    const refreshApprovals = () => void queryClient.invalidateQueries({ queryKey: keys.approvals });
    const refreshAll = () => {
      refreshLists();
      refreshApprovals();
    };
    const flush = () => {
      timer = undefined;
      const ids = [...changed];
      changed.clear();
      if (ids.length > READ_ONE_BY_ONE) refreshLists();
      else for (const id of ids) void readAgain(queryClient, id);
    };
    const stop = live.subscribe("me", {
      onHint: (hint) => {
        if (hint.type.startsWith("approval")) refreshApprovals();
        if (!hint.type.startsWith("session")) return;
        changed.add(hint.id);
        timer ??= window.setTimeout(flush, GATHER_MS);
      },
      onReconnect: refreshAll,
      onReset: refreshAll,
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, [live, queryClient]);
}
