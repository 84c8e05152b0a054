import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Child, Family } from "#features/delegation/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

/** Refetched earlier only after a hint. */
const FRESH_MS = 60_000;

function familyQuery(parentId: string) {
  return {
    queryKey: keys.family(parentId),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api.delegation.children({ id: parentId }, { signal }),
    staleTime: FRESH_MS,
  };
}

/** Loads a parent's children and their total cost. */
export function useFamily(parentId: string, isNeeded: boolean): Family | undefined {
  return useQuery({ ...familyQuery(parentId), enabled: isNeeded }).data;
}

/** Returns the children of these parents by id. */
export function useChildren(parentIds: readonly string[]): ReadonlyMap<string, Child> {
  const families = useQueries({
    queries: parentIds.map(familyQuery),
    combine: (found) => found.map(({ data }) => data),
  });
  return useMemo(() => {
    const children = families.flatMap((family) => family?.items ?? []);
    return new Map(children.map((child) => [child.sessionId, child]));
  }, [families]);
}
