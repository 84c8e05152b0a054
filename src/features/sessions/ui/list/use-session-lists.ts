import { type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { refreshMessages } from "#features/mailbox/ui/use-messages.ts";
import { refreshAllOrchestration, refreshOrchestration } from "#features/supervision/ui/refresh.ts";
import type { Session } from "#protocol/sessions.ts";
import { ApiError, api } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type SessionFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { useLive } from "#surfaces/web/kit/live/live-context.tsx";
import { placeSession, removeSession, type SessionPages } from "./session-list-cache.ts";

/** Hints come in bursts while an agent works; one refresh of each session per burst is enough. */
const BATCH_MS = 300;
const READ_ONE_BY_ONE = 6;

export function useSessionList(filter: SessionFilter, isWanted = true) {
  return useInfiniteQuery({
    enabled: isWanted,
    queryKey: keys.sessionList(filter),
    queryFn: ({ pageParam, signal }) =>
      api.sessions.list({ query: { ...filter, limit: 50, cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** Updates a session in its own cache entry and in every list that shows it. */
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
  const before = queryClient.getQueryData<{ session: Session }>(keys.session(id))?.session;
  try {
    const { session } = await api.sessions.get({ id });
    shareSession(queryClient, session);
    refreshRelatives(queryClient, before, session);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) forgetSession(queryClient, id);
  }
}

/** Refreshes the families of the session's parents, and one's orchestrator if it is affected. */
function refreshRelatives(
  queryClient: QueryClient,
  before: Session | undefined,
  now: Session,
): void {
  const parents = new Set([before?.parentSessionId, now.parentSessionId]);
  for (const id of parents) {
    if (!id) continue;
    void queryClient.invalidateQueries({ queryKey: keys.childrenOf(id) });
    void refreshOrchestration(queryClient, id);
  }
  if (now.isOrchestrator && before?.lifecycle !== now.lifecycle)
    void queryClient.invalidateQueries({ queryKey: keys.orchestrator });
}

/**
 * Runs one read at a time, and once more if it was requested meanwhile. Reading a long list takes longer
 * than the time between hints: restarting it at each hint would never finish.
 */
export function oneAtATime(read: () => Promise<void>): () => void {
  let isReading = false;
  let isWanted = false;
  const run = async () => {
    isReading = true;
    while (isWanted) {
      isWanted = false;
      await read();
    }
    isReading = false;
  };
  return () => {
    isWanted = true;
    if (!isReading) void run();
  };
}

/** Subscribes to the `me` topic: changes made elsewhere show up in the lists. */
export function useMyChanges(): void {
  const live = useLive();
  const queryClient = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: number | undefined;
    const refreshLists = oneAtATime(async () => {
      refreshAllOrchestration(queryClient);
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: keys.sessionLists }),
        queryClient.invalidateQueries({ queryKey: keys.allChildren }),
      ]);
    });
    const refreshApprovals = () => void queryClient.invalidateQueries({ queryKey: keys.approvals });
    const refreshMemories = oneAtATime(() =>
      queryClient.invalidateQueries({ queryKey: keys.memories }),
    );
    const refreshMail = oneAtATime(() => refreshMessages(queryClient));
    const refreshAll = () => {
      refreshLists();
      refreshMail();
      refreshMemories();
      void queryClient.invalidateQueries({ queryKey: keys.orchestrator });
      refreshApprovals();
    };
    const flush = () => {
      timer = undefined;
      const ids = [...changed];
      changed.clear();
      for (const id of ids) void refreshOrchestration(queryClient, id);
      if (ids.length > READ_ONE_BY_ONE) {
        refreshLists();
        for (const id of ids) void queryClient.invalidateQueries({ queryKey: keys.session(id) });
      } else for (const id of ids) void readAgain(queryClient, id);
    };
    const stop = live.subscribe("me", {
      onHint: (hint) => {
        if (hint.type.startsWith("approval")) refreshApprovals();
        if (hint.type === "message") refreshMail();
        if (hint.type === "memory") refreshMemories();
        if (!hint.type.startsWith("session") && hint.type !== "inbox") return;
        changed.add(hint.id);
        timer ??= window.setTimeout(flush, BATCH_MS);
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
