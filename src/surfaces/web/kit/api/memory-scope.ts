/** Memory requests by scope: an orchestrator's memories and those of sessions have separate routes. */
import type { AnswerOf, ApiRoutes } from "#client/index.ts";
import type { MemoryFile } from "#features/memory/contract.ts";
import { api } from "./api-client.ts";

type Routes = ApiRoutes["memory"];

/** Scope: one's orchestrator, all sessions, or the sessions of one repository (null: of none). */
export type MemoryScopeChoice = "orchestrator" | "sessions" | { repo: string | null };

export interface MemoryFilter {
  scope: MemoryScopeChoice;
  query?: string | undefined;
  category?: string | undefined;
  pinned?: boolean | undefined;
}

export interface NewMemory {
  content: string;
  category: string;
  title: string | null;
  pinned: boolean;
}

/** Returns a blank for "no repository"; an empty text would not be sent at all. */
function repoOf(scope: MemoryScopeChoice): string | undefined {
  return typeof scope === "object" ? (scope.repo ?? " ") : undefined;
}

/** Lists memories without counting them as used: looking through them on a page is not use. */
export function listMemories(
  { scope, pinned, ...filter }: MemoryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<AnswerOf<Routes["list"]>> {
  const query = { ...filter, pinned: pinned?.toString(), counted: "false", cursor };
  if (scope === "orchestrator") return api.memory.list({ query }, { signal });
  return api.memory.listSession({ query: { ...query, repo: repoOf(scope) } }, { signal });
}

export function writeMemory(
  scope: MemoryScopeChoice,
  body: NewMemory,
): Promise<AnswerOf<Routes["create"]>> {
  if (scope === "orchestrator") return api.memory.create({ body });
  return api.memory.createSession({ body: { ...body, repo: repoOf(scope) } });
}

/** Exports all memories of a scope. */
export function readScope(scope: MemoryScopeChoice): Promise<AnswerOf<Routes["export"]>> {
  return api.memory.export({ query: { repo: repoOf(scope) } });
}

export function importToScope(
  scope: MemoryScopeChoice,
  files: MemoryFile[],
): Promise<AnswerOf<Routes["import"]>> {
  return api.memory.import({ body: { files, repo: repoOf(scope) } });
}
