import { useQuery } from "@tanstack/react-query";
import type { ModelCapability } from "#protocol/models.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

const NONE: ModelCapability[] = [];

export function useModels(): ModelCapability[] {
  const found = useQuery({
    queryKey: keys.models,
    queryFn: () => api.runners.models(),
    staleTime: 30_000,
  });
  return found.data?.items ?? NONE;
}
