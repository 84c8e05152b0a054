/** Refreshes supervisor mode: the role first, because only a supervisor has workers. */
import type { QueryClient } from "@tanstack/react-query";
import type { OrchestrationRole } from "#features/supervision/contract.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

export async function refreshOrchestration(queryClient: QueryClient, id: string): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: keys.orchestrationRole(id) });
  const role = queryClient.getQueryData<OrchestrationRole>(keys.orchestrationRole(id));
  if (role?.role !== "supervisor") return;
  void queryClient.invalidateQueries({ queryKey: keys.workers(id) });
  void queryClient.invalidateQueries({ queryKey: keys.inbox(id) });
}

/** Runs when hints were missed, or came too many at once. */
export function refreshAllOrchestration(queryClient: QueryClient): void {
  const known = queryClient.getQueryCache().findAll({ queryKey: keys.orchestrations });
  for (const id of new Set(known.map(({ queryKey }) => String(queryKey[1]))))
    void refreshOrchestration(queryClient, id);
}
