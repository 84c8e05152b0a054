/** Short view of an inbox: unread messages first, then the latest read ones, up to a limit. */
import { command, type Engine, type Person, type Principal, requireMay } from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import type { MailMessage } from "../contract.ts";
import { markMessagesRead } from "../inbox/change-message.ts";
import { listFolder } from "../inbox/inbox.ts";
import { readUnread } from "../queries.ts";

export interface RecentMessages {
  /** Unread messages in the whole inbox. */
  unread: number;
  messages: MailMessage[];
}

/** Marks messages as read only on request. */
export async function readRecentMessages(
  engine: Engine,
  principal: Principal,
  options: { limit: number; unreadOnly?: boolean | undefined; markRead?: boolean | undefined },
): Promise<RecentMessages> {
  const { limit, unreadOnly = false, markRead = false } = options;
  requireMay(principal, markRead ? "mail.write" : "mail.read");
  const { orgId, userId } = requireUser(principal);
  const person: Person = { orgId, userId };
  const page = { box: "inbox", limit } as const;
  const { items: fresh } = await listFolder(engine, person, { ...page, unreadOnly: true });
  const rest = unreadOnly ? [] : (await listFolder(engine, person, page)).items;
  const messages = [...fresh, ...rest.filter(({ read }) => read)].slice(0, limit);
  const unread = await engine.store.read((reader) => readUnread(reader, person));
  const ids = messages.filter(({ read }) => !read).map(({ id }) => id);
  if (markRead) await command(engine, (work) => markMessagesRead(work, person, ids));
  return { unread, messages };
}
