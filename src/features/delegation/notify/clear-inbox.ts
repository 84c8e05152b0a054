import type { SessionWriter, Work } from "#engine/index.ts";
import { deleteInbox, listOpenThreads } from "./inbox-queries.ts";
import { hintInbox } from "./note.ts";
import { takePendingEvents } from "./notify-parent.ts";

/** Deletes a parent's whole inbox at a person's request, including undelivered events. */
export async function clearInbox(work: Work, parent: SessionWriter): Promise<number> {
  for (const thread of await listOpenThreads(work.tx, parent.row.id))
    await takePendingEvents(work, parent, thread);
  hintInbox(work, parent.row);
  return deleteInbox(work.tx, parent.row.id);
}
