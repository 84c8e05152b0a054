/**
 * Register of live children for a parent whose history was compacted. Every turn of such a parent
 * reads it, so it is one bounded query.
 */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { entryView } from "#engine/sessions/index.ts";
import { isGuestThread } from "#protocol/notices/guests.ts";
import { lineOf, viewChild } from "./children/children.ts";
import { inQuotes } from "./notify/words.ts";
import { type ChildWithEntry, listLiveChildren } from "./queries.ts";

const LISTED = 100;

export async function childRegister(
  reader: Reader,
  session: SessionRow,
  thread: string,
): Promise<string | null> {
  if (session.parent_session_id !== null) return null;
  const children = await listLiveChildren(reader, session.id, LISTED + 1);
  if (children.length === 0) return null;
  const lines = children.slice(0, LISTED).map((one) => registerLine(one, isGuestThread(thread)));
  if (children.length > LISTED) lines.push("- and more; list your children to see all");
  return `[Your child sessions now]\n${lines.join("\n")}`;
}

/**
 * Leaves out the child's text in a guest's thread, where a guest could have it repeated to them.
 */
function registerLine({ child, entry }: ChildWithEntry, isForGuest: boolean): string {
  const where = child.repo === null ? "" : ` on ${inQuotes(child.repo)}`;
  const doing = entry && !isForGuest ? lineOf(entryView(entry)) : "";
  const what = doing === "" ? "" : `: ${inQuotes(doing)}`;
  const name = inQuotes(child.title ?? child.id);
  return `- ${name} (${child.id}), ${viewChild(child).activity}${where}${what}`;
}
