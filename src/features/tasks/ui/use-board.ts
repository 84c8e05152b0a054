/** Queries of a board. Server hints refresh them. */

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { oneAtATime } from "#features/sessions/ui/list/use-session-lists.ts";
import { useChildrenOverview } from "#features/sessions/ui/tree/use-children.ts";
import type { TaskCard, TaskPage, TaskStatus } from "#features/tasks/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useLive } from "#surfaces/web/kit/live/live-context.tsx";
import { isSettled } from "./board-words.ts";

/** Board that is shown. */
export interface ShownBoard {
  boardId: string;
  /** Name of the session. */
  name: string;
  /** Board parameter in the address. */
  param: string;
}

const COLUMN_LIMIT = 50;

const BoardContext = createContext<ShownBoard | undefined>(undefined);
export const BoardProvider = BoardContext.Provider;

export function useBoard(): ShownBoard {
  const place = useContext(BoardContext);
  if (place === undefined) throw new Error("useBoard needs a board above it");
  return place;
}

/** Loads one column in board order; settled tasks newest first. */
export function useColumn(boardId: string, status: TaskStatus) {
  const order = isSettled(status) ? ("settled" as const) : undefined;
  const found = useInfiniteQuery({
    queryKey: keys.boardColumn(boardId, status),
    queryFn: ({ pageParam, signal }) =>
      api.tasks.list(
        { id: boardId, query: { status, order, cursor: pageParam, limit: COLUMN_LIMIT } },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  return { status, found, tasks: eachOnce(found.data?.pages ?? []) };
}
export type Column = ReturnType<typeof useColumn>;

/** Removes duplicates: a task may move from one page to another while pages are read. */
export function eachOnce(pages: readonly { items: TaskCard[] }[]): TaskCard[] {
  const byId = new Map<string, TaskCard>();
  for (const { items } of pages)
    for (const task of items) if (!byId.has(task.id)) byId.set(task.id, task);
  return [...byId.values()];
}

export function useOpenTasks(boardId: string) {
  return useQuery({
    queryKey: keys.openTasks(boardId),
    queryFn: ({ signal }) =>
      api.tasks.list(
        { id: boardId, query: { status: "pending,in_progress,blocked", limit: PAGE_LIMIT_MAX } },
        { signal },
      ),
  });
}

/** Loads a task; null if the board does not have it. */
export function useTask(boardId: string, taskId: string) {
  return useQuery<TaskPage | null>({
    queryKey: keys.task(boardId, taskId),
    queryFn: ({ signal }) => readTask(boardId, taskId, signal),
  });
}

/**
 * Reads a task; null if the board does not have it. Asks the list first: browsers log every refused
 * request as an error of the page, and a deleted task is not an error.
 */
async function readTask(boardId: string, taskId: string, signal: AbortSignal) {
  const found = await api.tasks.list({ id: boardId, query: { ids: taskId } }, { signal });
  return found.items.length === 0 ? null : api.tasks.get({ id: boardId, taskId }, { signal });
}

const LIVE_STATES: ReadonlySet<string> = new Set(["active", "hibernated"]);

/** Lists sessions that can be assigned a task: the board's session and its live children. */
export function useAssignees(): { id: string; name: string }[] {
  const { boardId, name } = useBoard();
  const children = useChildrenOverview(boardId, true)?.items ?? [];
  return [
    { id: boardId, name },
    ...children
      .filter(({ lifecycle }) => LIVE_STATES.has(lifecycle))
      .map(({ sessionId, title }) => ({ id: sessionId, name: title ?? sessionId })),
  ];
}

/** Hints come in bursts while agents work; one refresh per burst is enough. */
const BATCH_MS = 300;

/** Subscribes to the board's topic. */
export function useBoardChanges(boardId: string): void {
  const live = useLive();
  const queryClient = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: number | undefined;
    const refreshBoard = oneAtATime(() =>
      queryClient.invalidateQueries({ queryKey: keys.board(boardId) }),
    );
    const refreshTask = (id: string) =>
      void queryClient.invalidateQueries({ queryKey: keys.task(boardId, id) });
    const flush = () => {
      timer = undefined;
      refreshBoard();
      for (const id of changed) refreshTask(id);
      changed.clear();
    };
    const refreshAll = () => {
      refreshBoard();
      void queryClient.invalidateQueries({ queryKey: keys.tasks(boardId) });
    };
    const stop = live.subscribe(`board:${boardId}`, {
      onHint: ({ id }) => {
        changed.add(id);
        timer ??= window.setTimeout(flush, BATCH_MS);
      },
      // Changes between the first read and the subscription sent no hint.
      onSubscribed: refreshAll,
      onReset: refreshAll,
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, [live, queryClient, boardId]);
}
