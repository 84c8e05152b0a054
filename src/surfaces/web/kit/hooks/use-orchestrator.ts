import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { AnswerOf, ApiRoutes } from "#client/index.ts";
import type { Session } from "#protocol/sessions.ts";
import { api, messageOf } from "../api/api-client.ts";
import { keys } from "../api/query-keys.ts";

export type MyOrchestrator = AnswerOf<ApiRoutes["orchestrators"]["get"]>;

/** Loads one's own orchestrator; reading starts nothing. */
export function useMyOrchestrator() {
  return useQuery<MyOrchestrator>({
    queryKey: keys.orchestrator,
    queryFn: ({ signal }) => api.orchestrators.get({}, { signal }),
    staleTime: 60_000,
  });
}

/** Current session of the orchestrator: changes are reported per session, and not for the query above. */
export function useOrchestratorSession(): Session | null {
  const mine = useMyOrchestrator().data;
  const id = mine?.session?.id ?? "";
  const session = useQuery({
    queryKey: keys.session(id),
    queryFn: ({ signal }) => api.sessions.get({ id }, { signal }),
    enabled: id !== "",
  });
  return session.data?.session ?? mine?.session ?? null;
}

/**
 * Starts the orchestrator once if there is none or if it has ended. A failure is shown and retried only
 * on request, so that a server in trouble is not asked in a loop.
 */
export function useStartedOrchestrator() {
  const queryClient = useQueryClient();
  const mine = useMyOrchestrator();
  const [problem, setProblem] = useState<string | null>(null);
  const wasAsked = useRef(false);
  const isWanted =
    mine.data !== undefined && (mine.data.session === null || mine.data.needsRestart);
  const start = async () => {
    wasAsked.current = true;
    setProblem(null);
    try {
      const { session, identity } = await api.orchestrators.create();
      queryClient.setQueryData(keys.session(session.id), { session });
      queryClient.setQueryData<MyOrchestrator>(keys.orchestrator, {
        session,
        identity,
        needsRestart: false,
        recovery: null,
      });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  useEffect(() => {
    if (!isWanted) wasAsked.current = false;
    else if (!wasAsked.current) void start();
  });
  return { mine, problem, isStarting: isWanted && problem === null, start };
}
