/** The calls about one's memories. */
import type {
  Earlier,
  Imported,
  Memory,
  MemoryChange,
  MemoryFile,
  Pruned,
  Shelf,
  Written,
} from "#features/memory/contract.ts";
import type { Page } from "#protocol/page.ts";
import { callApi } from "./api-client.ts";

/** One's orchestrator's, all of the sessions', or what sessions know of one repository (null: of none). */
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

export interface PruneWish {
  below?: number | undefined;
  unusedDays?: number | undefined;
}

const ALL = "/api/me/memories";
const OF_SESSIONS = `${ALL}/session`;
const one = (id: string) => `${ALL}/${encodeURIComponent(id)}`;
const pathOf = (shelf: ShelfChoice) => (shelf === "orchestrator" ? ALL : OF_SESSIONS);

/** A blank is no repository; what is empty would not be sent at all. */
function repoOf(shelf: ShelfChoice): string | undefined {
  return typeof shelf === "object" ? (shelf.repo ?? " ") : undefined;
}

export const memoryApi = {
  /** Looking through them on a page is not using them: it does not count. */
  list: (
    { shelf, ...query }: MemoryFilter,
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<Page<Memory>> =>
    callApi(pathOf(shelf), {
      query: { ...query, repo: repoOf(shelf), counted: false, cursor },
      signal,
    }),
  shelves: (signal: AbortSignal) => callApi<{ items: Shelf[] }>(`${ALL}/shelves`, { signal }),
  read: (id: string, signal: AbortSignal) =>
    callApi<{ memory: Memory; history: Earlier[] }>(one(id), { signal }),
  write: (shelf: ShelfChoice, body: NewMemory) => {
    const repo = repoOf(shelf);
    return callApi<Written>(pathOf(shelf), {
      method: "POST",
      body: repo === undefined ? body : { ...body, repo },
    });
  },
  change: (id: string, body: MemoryChange) =>
    callApi<{ memory: Memory }>(one(id), { method: "PATCH", body }),
  forget: (id: string) => callApi<{ memory: Memory }>(one(id), { method: "DELETE" }),
  prune: (wish: PruneWish, dryRun: boolean, signal?: AbortSignal) =>
    callApi<Pruned>(`${ALL}/prune`, {
      method: "POST",
      body: { ...wish, dryRun },
      ...(signal ? { signal } : {}),
    }),
  /** All of a shelf. */
  export: (shelf: ShelfChoice) =>
    callApi<{ files: MemoryFile[] }>(`${ALL}/export`, { query: { repo: repoOf(shelf) } }),
  import: (shelf: ShelfChoice, files: MemoryFile[]) => {
    const repo = repoOf(shelf);
    return callApi<Imported>(`${ALL}/import`, {
      method: "POST",
      body: repo === undefined ? { files } : { files, repo },
    });
  },
};
