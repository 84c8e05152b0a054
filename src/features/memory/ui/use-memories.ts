import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Memory } from "#features/memory/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { listMemories, type MemoryFilter } from "#surfaces/web/kit/api/memory-scope.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

/** Loads memories, last written first; with search words, best match first. */
export function useMemories(filter: MemoryFilter) {
  const found = useInfiniteQuery({
    queryKey: keys.memoryList(filter),
    queryFn: ({ pageParam, signal }) => listMemories(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const byId = new Map<string, Memory>();
  for (const { items } of found.data?.pages ?? [])
    for (const memory of items) if (!byId.has(memory.id)) byId.set(memory.id, memory);
  return { found, memories: [...byId.values()] };
}

export function useMemoryScopes() {
  return useQuery({
    queryKey: keys.memoryScopes,
    queryFn: ({ signal }) => api.memory.scopes({}, { signal }),
  });
}

/** Returns the text once typing has paused. */
export function useSettled(text: string, afterMs: number): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), afterMs);
    return () => window.clearTimeout(timer);
  }, [text, afterMs]);
  return settled;
}
