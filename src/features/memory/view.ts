import { isoTime } from "#engine/sessions/index.ts";
import type { EarlierVersion, Memory, MemoryScope } from "./contract.ts";
import { shownRelevance } from "./ranking/relevance.ts";
import type { MemoryRow, MemoryScopeRow } from "./schema.ts";
import { MAX_UNPINNED } from "./scope.ts";

export function memoryView(row: MemoryRow, now: number): Memory {
  return {
    id: row.id,
    kind: row.kind,
    repo: row.repo === "" ? null : row.repo,
    category: row.category,
    title: row.title,
    content: row.content,
    relevance: shownRelevance(row.fades_at, now),
    pinned: row.pinned === 1,
    accessCount: row.access_count,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    lastAccessedAt: isoTime(row.last_accessed_at),
    source:
      row.source_session_id === null
        ? null
        : { sessionId: row.source_session_id, promptId: row.source_prompt_id },
  };
}

export function scopeView({ kind, repo, memories, pinned }: MemoryScopeRow): MemoryScope {
  return { kind, repo: repo === "" ? null : repo, memories, pinned, room: MAX_UNPINNED[kind] };
}

export function historyOf({ history }: MemoryRow): EarlierVersion[] {
  return JSON.parse(history) as EarlierVersion[];
}
