/** What the page knows of supervisor mode. It is read again when the server hints at it, and not by the clock. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api.ts";
import { orchestrationApi } from "#surfaces/web/kit/orchestration-api.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { useMe } from "#surfaces/web/kit/use-me.ts";
import { useChange } from "#surfaces/web/pages/settings/use-change.ts";
import { refreshOrchestration } from "./refresh.ts";

/** Whether there is supervisor mode for this session: on this server, and for whoever looks. */
export function useMayOrchestrate(session: Session): boolean {
  const me = useMe();
  const isMine = me !== null && session.ownerId === me.user.id;
  const config = useConfig();
  return isMine && !session.isOrchestrator && (config.data?.available ?? false);
}

export function useConfig() {
  return useQuery({
    queryKey: keys.orchestrationConfig,
    queryFn: () => orchestrationApi.config(),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function useRole(sessionId: string) {
  return useQuery({
    queryKey: keys.orchestrationRole(sessionId),
    queryFn: () => orchestrationApi.role(sessionId),
  });
}

export function useWorkers(sessionId: string) {
  return useQuery({
    queryKey: keys.workers(sessionId),
    queryFn: () => orchestrationApi.workers(sessionId),
  });
}

export function useInbox(sessionId: string) {
  return useQuery({
    queryKey: keys.inbox(sessionId),
    queryFn: () => orchestrationApi.inbox(sessionId),
  });
}

/** The panel shows what came of it; only what failed is said. */
export function useSupervisorMode(sessionId: string) {
  const after = useAfter(sessionId);
  const enable = useChange(() => orchestrationApi.enable(sessionId), {
    ...after,
    failed: "Supervisor mode was not enabled",
  });
  const disable = useChange(() => orchestrationApi.disable(sessionId), {
    ...after,
    failed: "Supervisor mode was not disabled",
  });
  const clearInbox = useChange(() => orchestrationApi.clearInbox(sessionId), {
    ...after,
    failed: "The inbox was not cleared",
  });
  return { enable, disable, clearInbox };
}

export function useWorkerActions(sessionId: string) {
  const after = useAfter(sessionId);
  const resume = useChange((workerId: string) => orchestrationApi.resume(sessionId, workerId), {
    ...after,
    failed: "The worker was not resumed",
  });
  const detach = useChange((workerId: string) => orchestrationApi.detach(sessionId, workerId), {
    ...after,
    failed: "The worker was not detached",
  });
  // As a person deletes any session, so that the supervisor hears of it.
  const kill = useChange((workerId: string) => api.archiveSession(workerId, true), {
    ...after,
    failed: "The worker was not killed",
  });
  return { resume, detach, kill };
}

/** What is read again when something was done. */
function useAfter(sessionId: string) {
  const queryClient = useQueryClient();
  return {
    stale: keys.orchestrationRole(sessionId),
    onDone: () => void refreshOrchestration(queryClient, sessionId),
  };
}
