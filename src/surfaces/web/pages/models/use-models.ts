import { useQuery } from "@tanstack/react-query";
import type { ModelOffer } from "#protocol/models.ts";
import { api, type Me } from "#surfaces/web/kit/api.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";

const NONE: ModelOffer[] = [];

export function useModels(): ModelOffer[] {
  const found = useQuery({ queryKey: keys.models, queryFn: api.listModels, staleTime: 30_000 });
  return found.data?.items ?? NONE;
}

/** Whether to offer what only admins may do; the server decides in any case. */
export function useMayManageModels(): boolean {
  const me = useQuery<Me | null>({ queryKey: keys.me, enabled: false });
  if (me.data?.user.role !== "admin") return false;
  return me.data.scopes.includes("*") || me.data.scopes.includes("admin");
}
