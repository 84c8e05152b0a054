/** Memory requests by scope: an orchestrator's memories and those of sessions have separate routes. */
import type { AnswerOf, ApiRoutes } from "#client/index.ts";
import type { MemoryFile } from "#features/memory/contract.ts";
import { api } from "./api-client.ts";

type Routes = ApiRoutes["memory"];

/** Scope: one's orchestrator, all sessions, or the sessions of one repository (null: of none). */
export type ShelfChoice = "orchestrator" | "sessions" | { repo: string | null };

export interface MemoryFilter {
  shelf: ShelfChoice;
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
function repoOf(shelf: ShelfChoice): string | undefined {
  return typeof shelf === "object" ? (shelf.repo ?? " ") : undefined;
}

/** Lists memories without counting them as used: looking through them on a page is not use. */
export function listMemories(
  { shelf, pinned, ...filter }: MemoryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<AnswerOf<Routes["list"]>> {
  const query = { ...filter, pinned: pinned?.toString(), counted: "false", cursor };
  if (shelf === "orchestrator") return api.memory.list({ query }, { signal });
  return api.memory.listSession({ query: { ...query, repo: repoOf(shelf) } }, { signal });
}

export function writeMemory(
  shelf: ShelfChoice,
  body: NewMemory,
): Promise<AnswerOf<Routes["create"]>> {
  if (shelf === "orchestrator") return api.memory.create({ body });
  return api.memory.createSession({ body: { ...body, repo: repoOf(shelf) } });
}

/** Exports all memories of a scope. */
export function readShelf(shelf: ShelfChoice): Promise<AnswerOf<Routes["export"]>> {
  return api.memory.export({ query: { repo: repoOf(shelf) } });
}

export function importToShelf(
  shelf: ShelfChoice,
  files: MemoryFile[],
): Promise<AnswerOf<Routes["import"]>> {
  return api.memory.import({ body: { files, repo: repoOf(shelf) } });
}
