/** What others learn of a change: the trail that there was one, and pages that they should look again. */
import type { Work } from "#engine/index.ts";
import type { ShelfRow } from "./schema.ts";

export interface Note {
  /** A principal's key; null: it came about by itself. */
  by: string | null;
  action: "written" | "replaced" | "changed" | "pinned" | "unpinned" | "forgotten" | "pruned";
  id: string;
  /** A word of the code. */
  detail?: string;
}

/** Never what a memory says. */
export function note(
  work: Work,
  { org_id: orgId }: Pick<ShelfRow, "org_id">,
  { by, action, id, detail }: Note,
): Promise<void> {
  const said = detail === undefined ? {} : { detail };
  return work.tell({ orgId, by, area: "memory", action, subjectId: id, ...said });
}

/** A hint: nothing depends on it. */
export function hintMemory(
  work: Work,
  { user_id: userId }: Pick<ShelfRow, "user_id">,
  id: string,
): void {
  if (userId === "") return;
  work.tx.afterCommit(() => work.announcer.hint(`user:${userId}`, "memory", id));
}
