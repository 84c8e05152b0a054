import type { Identity, Recovery } from "#features/orchestrators/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "../client/api.ts";

export const ORCHESTRATOR = "/api/me/orchestrator";

export interface Orchestrator {
  session: Session | null;
  identity: Identity | null;
  needsRestart: boolean;
  recovery: Recovery | null;
}

/** Your orchestrator, made or brought back when there is none that could answer. */
export async function ensureOrchestrator(api: Api): Promise<Session> {
  const { session, needsRestart } = await api.call<Orchestrator>(ORCHESTRATOR);
  if (session !== null && !needsRestart) return session;
  const started = await api.callAgain<{ session: Session }>(ORCHESTRATOR, {
    method: "POST",
    body: {},
  });
  return started.session;
}
