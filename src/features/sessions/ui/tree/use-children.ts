import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Child, ChildrenOverview } from "#features/delegation/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

/** Refetched earlier only after a hint. */
const FRESH_MS = 60_000;

function childrenQuery(parentId: string) {
  return {
    queryKey: keys.childrenOf(parentId),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api.delegation.children({ id: parentId }, { signal }),
    staleTime: FRESH_MS,
  };
}

/** Loads a parent's children and their total cost. */
export function useChildrenOverview(
  parentId: string,
  isNeeded: boolean,
): ChildrenOverview | undefined {
  return useQuery({ ...childrenQuery(parentId), enabled: isNeeded }).data;
}

/** Returns the children of these parents by id. */
export function useChildren(parentIds: readonly string[]): ReadonlyMap<string, Child> {
  const overviews = useQueries({
    queries: parentIds.map(childrenQuery),
    combine: (found) => found.map(({ data }) => data),
  });
  return useMemo(() => {
    const children = overviews.flatMap((overview) => overview?.items ?? []);
    return new Map(children.map((child) => [child.sessionId, child]));
  }, [overviews]);
}
