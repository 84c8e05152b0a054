/** The calls about one's own orchestrator and about parents and children, with their shapes. */
import type { Family } from "#features/delegation/contract.ts";
import type {
  Identity,
  IdentityChange,
  Preferences,
  PreferencesChange,
  Recovery,
} from "#features/orchestrators/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { callApi } from "./api-client.ts";

export interface MyOrchestrator {
  session: Session | null;
  identity: Identity | null;
  needsRestart: boolean;
  recovery?: Recovery | null;
}

const MINE = "/api/me/orchestrator";
const settings = (orgId: string) => `/api/orgs/${encodeURIComponent(orgId)}/orchestrator-settings`;
const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export const orchestratorApi = {
  read: (signal?: AbortSignal) => callApi<MyOrchestrator>(MINE, signal ? { signal } : {}),
  /** Makes it, or brings it back; one that is there stays as it is. */
  start: () =>
    callApi<{ session: Session; identity: Identity }>(MINE, { method: "POST", body: {} }),
  /** Its turns are stopped; its queue is kept. */
  restart: () =>
    callApi<{ session: Session }>(`${MINE}/restart`, { method: "POST", body: { force: true } }),
  checkHandle: (handle: string, signal: AbortSignal) =>
    callApi<{ available: boolean; suggestion?: string }>(`${MINE}/check-handle`, {
      query: { handle },
      signal,
    }),
  changeIdentity: (body: IdentityChange) =>
    callApi<{ identity: Identity }>(`${MINE}/identity`, { method: "PUT", body }),

  readPreferences: (signal: AbortSignal) => callApi<Preferences>("/api/me/preferences", { signal }),
  changePreferences: (body: PreferencesChange) =>
    callApi<Preferences>("/api/me/preferences", { method: "PATCH", body }),
  /** The model of everybody's orchestrator; null: everybody chooses. */
  readModelForAll: (orgId: string, signal: AbortSignal) =>
    callApi<{ model: string | null }>(settings(orgId), { signal }),
  setModelForAll: (orgId: string, model: string | null) =>
    callApi<{ model: string | null }>(settings(orgId), { method: "PATCH", body: { model } }),

  readFamily: (parentId: string, signal: AbortSignal) =>
    callApi<Family>(`${session(parentId)}/children`, { signal }),
  detach: (childId: string) =>
    callApi<unknown>(`${session(childId)}/detach`, { method: "POST", body: {} }),
};
