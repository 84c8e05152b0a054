import { useQuery } from "@tanstack/react-query";
import type { ModelOffer } from "#protocol/models.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

const NONE: ModelOffer[] = [];

export function useModels(): ModelOffer[] {
  const found = useQuery({
    queryKey: keys.models,
    queryFn: () => api.runners.models(),
    staleTime: 30_000,
  });
  return found.data?.items ?? NONE;
}
