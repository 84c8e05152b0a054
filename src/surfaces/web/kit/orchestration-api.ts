/** The calls of supervisor mode. */
import type { InboxItem } from "#features/delegation/contract.ts";
import type {
  OrchestrationConfig,
  OrchestrationRole,
  Worker,
} from "#features/supervision/contract.ts";
import { callApi } from "./api-client.ts";

const at = (id: string) => `/api/orchestration/sessions/${encodeURIComponent(id)}`;
const worker = (id: string, workerId: string) =>
  `${at(id)}/workers/${encodeURIComponent(workerId)}`;
const post = <T>(path: string) => callApi<T>(path, { method: "POST", body: {} });

export const orchestrationApi = {
  config: () => callApi<OrchestrationConfig>("/api/orchestration/config"),
  role: (id: string) => callApi<OrchestrationRole>(at(id)),
  enable: (id: string) => post<OrchestrationRole>(`${at(id)}/enable`),
  disable: (id: string) => post<OrchestrationRole>(`${at(id)}/disable`),
  workers: (id: string) => callApi<{ items: Worker[] }>(`${at(id)}/workers`),
  inbox: (id: string) => callApi<{ items: InboxItem[] }>(`${at(id)}/inbox`),
  clearInbox: (id: string) => post<{ cleared: number }>(`${at(id)}/inbox/clear`),
  detach: (id: string, workerId: string) => post<unknown>(`${worker(id, workerId)}/detach`),
  resume: (id: string, workerId: string) => post<unknown>(`${worker(id, workerId)}/resume`),
};
