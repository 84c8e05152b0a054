/** Ends waits whose children are all gone, since nothing could end them otherwise. */
import type { SessionWriter, Work } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { isLive } from "../children/lifecycle.ts";
import { wake } from "../notify/notify-parent.ts";
import { findLink } from "../queries.ts";
import { closeWait } from "./close-wait.ts";
import { listNamedWaits } from "./wait-queries.ts";

/** `endedId`: child that has just gone, which the database may not show yet. */
export async function endOrphanedWaits(
  work: Work,
  parent: SessionWriter,
  endedId: string,
): Promise<void> {
  const { id } = parent.row;
  for (const { thread, children } of await listNamedWaits(work.tx, id)) {
    const awaited = (JSON.parse(children) as string[]).filter((childId) => childId !== endedId);
    if (await isAnyLive(work, id, awaited)) continue;
    if (await closeWait(work, id, thread)) await wake(work, parent, thread, "children_gone");
  }
}

async function isAnyLive(
  work: Work,
  parentId: string,
  childIds: readonly string[],
): Promise<boolean> {
  for (const childId of childIds) {
    const link = await findLink(work.tx, childId);
    const row =
      link?.parent_session_id === parentId ? await findSession(work.tx, childId) : undefined;
    if (row && isLive(row)) return true;
  }
  return false;
}
