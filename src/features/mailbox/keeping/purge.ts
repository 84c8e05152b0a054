/**
 * Removes a person's messages, inbox and settings. Messages that they and their agents sent stay
 * with their recipients, without content.
 */
import type { Person, Work } from "#engine/index.ts";
import { deleteSettingsOf } from "../inbox/preference-queries.ts";
import { blankMessagesFrom, deleteInbox, deleteMessagesTo } from "./purge-queries.ts";

const AT_ONCE = 500;
const REMOVED_NAME = "Removed person";
export const REMOVED_CONTENT = "This message was removed together with the person who wrote it.";

/** Returns true when nothing is left. */
export async function purgeMessagesOf(work: Work, person: Person): Promise<boolean> {
  const { tx } = work;
  const deleted = await deleteMessagesTo(tx, person, AT_ONCE);
  const blanked = await blankMessagesFrom(tx, person, REMOVED_NAME, REMOVED_CONTENT, AT_ONCE);
  if (deleted === AT_ONCE || blanked === AT_ONCE) return false;
  await deleteInbox(tx, person);
  await deleteSettingsOf(tx, person);
  return true;
}
