/**
 * What goes with somebody who has left: their letters, their inbox and what they had set. What they
 * and their agents wrote to others stays with those, without its words.
 */
import type { Person, Work } from "#engine/index.ts";
import { deleteSettingsOf } from "../inbox/preference-queries.ts";
import { blankLettersFrom, deleteInbox, deleteLettersTo } from "./purge-queries.ts";

const AT_ONCE = 500;
const REMOVED_NAME = "Removed person";
export const REMOVED_CONTENT = "What stood here was removed with the person who wrote it.";

/** True when nothing is left. */
export async function purgeLettersOf(work: Work, person: Person): Promise<boolean> {
  const { tx } = work;
  const deleted = await deleteLettersTo(tx, person, AT_ONCE);
  const blanked = await blankLettersFrom(tx, person, REMOVED_NAME, REMOVED_CONTENT, AT_ONCE);
  if (deleted === AT_ONCE || blanked === AT_ONCE) return false;
  await deleteInbox(tx, person);
  await deleteSettingsOf(tx, person);
  return true;
}
