/** Queries of supervisor mode. Server hints refresh them; there is no polling. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { refreshOrchestration } from "./refresh.ts";

/** True if this server has supervisor mode and the viewer may use it on this session. */
export function useMayOrchestrate(session: Session): boolean {
  const me = useMe();
  const isMine = me !== null && session.ownerId === me.user.id;
  const config = useConfig();
  return isMine && !session.isOrchestrator && (config.data?.available ?? false);
}

export function useConfig() {
  return useQuery({
    queryKey: keys.orchestrationConfig,
    queryFn: () => api.supervision.getConfig(),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function useRole(sessionId: string) {
  return useQuery({
    queryKey: keys.orchestrationRole(sessionId),
    queryFn: () => api.supervision.get({ id: sessionId }),
  });
}

export function useWorkers(sessionId: string) {
  return useQuery({
    queryKey: keys.workers(sessionId),
    queryFn: () => api.supervision.listWorkers({ id: sessionId }),
  });
}

export function useInbox(sessionId: string) {
  return useQuery({
    queryKey: keys.inbox(sessionId),
    queryFn: () => api.supervision.readInbox({ id: sessionId }),
  });
}

/** Reports only failures: the panel shows the successful result. */
export function useSupervisorMode(sessionId: string) {
  const after = useRefresh(sessionId);
  const enable = useChange(() => api.supervision.enable({ id: sessionId }), {
    ...after,
    failed: "Couldn't enable supervisor mode",
  });
  const disable = useChange(() => api.supervision.disable({ id: sessionId }), {
    ...after,
    failed: "Couldn't disable supervisor mode",
  });
  const clearInbox = useChange(() => api.supervision.clearInbox({ id: sessionId }), {
    ...after,
    failed: "Couldn't clear the inbox",
  });
  return { enable, disable, clearInbox };
}

export function useWorkerActions(sessionId: string) {
  const after = useRefresh(sessionId);
  const resume = useChange(
    (workerId: string) => api.supervision.resumeWorker({ id: sessionId, workerId }),
    {
      ...after,
      failed: "Couldn't resume the worker",
    },
  );
  const detach = useChange(
    (workerId: string) => api.supervision.detachWorker({ id: sessionId, workerId }),
    {
      ...after,
      failed: "Couldn't detach the worker",
    },
  );
  // Deletes like a person deletes any session, so that the supervisor is notified.
  const kill = useChange(
    (workerId: string) => api.sessions.delete({ id: workerId, query: { force: "true" } }),
    {
      ...after,
      failed: "Couldn't kill the worker",
    },
  );
  return { resume, detach, kill };
}

/** Refreshes queries after a change. */
function useRefresh(sessionId: string) {
  const queryClient = useQueryClient();
  return {
    stale: keys.orchestrationRole(sessionId),
    onDone: () => void refreshOrchestration(queryClient, sessionId),
  };
}
