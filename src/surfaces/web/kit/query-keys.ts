import type { SessionFilter } from "./api.ts";

export const keys = {
  me: ["me"] as const,
  runtimes: ["runtimes"] as const,
  sessionLists: ["sessions"] as const,
  sessionList: (filter: SessionFilter) => ["sessions", filter] as const,
  session: (id: string) => ["session", id] as const,
  transcript: (id: string) => ["transcript", id] as const,
  tail: (id: string) => ["tail", id] as const,
  queue: (id: string) => ["queue", id] as const,
  prompt: (id: string) => ["prompt", id] as const,
};
