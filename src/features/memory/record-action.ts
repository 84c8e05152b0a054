/** Records changes of memories in the audit trail, and hints to pages that they should reload. */
import type { Work } from "#engine/index.ts";
import type { MemoryScopeRow } from "./schema.ts";

export interface MemoryAction {
  /** Key of a principal; null: an automatic change. */
  by: string | null;
  action: "written" | "replaced" | "changed" | "pinned" | "unpinned" | "forgotten" | "pruned";
  id: string;
  /** A fixed word, never user input. */
  detail?: string;
}

/** Writes to the audit trail, without the content of the memory. */
export function recordMemoryAction(
  work: Work,
  { org_id: orgId }: Pick<MemoryScopeRow, "org_id">,
  { by, action, id, detail }: MemoryAction,
): Promise<void> {
  const optional = detail === undefined ? {} : { detail };
  return work.reportChange({ orgId, by, area: "memory", action, subjectId: id, ...optional });
}

/** Publishes a hint; nothing depends on it. */
export function hintMemory(
  work: Work,
  { user_id: userId }: Pick<MemoryScopeRow, "user_id">,
  id: string,
): void {
  if (userId === "") return;
  work.tx.afterCommit(() => work.announcer.hint(`user:${userId}`, "memory", id));
}
