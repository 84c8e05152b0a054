/** Messages grouped by thread, and updates of cached lists after a change. Pure. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { Page } from "#protocol/page.ts";

export type MessagePages = InfiniteData<Page<MailMessage>, unknown>;

export interface MessageThread {
  id: string;
  /** Message that decides the thread's place in the list. */
  newest: MailMessage;
  /** Messages of the thread that are listed. */
  messages: MailMessage[];
  unread: number;
}

/** Groups messages in the server's order: a thread stands where its first listed message does. */
export function threadsOf(pages: MessagePages | undefined): MessageThread[] {
  const threads = new Map<string, MessageThread>();
  const seen = new Set<string>();
  for (const message of (pages?.pages ?? []).flatMap((page) => page.items)) {
    // A message that moved while pages were read may be on two of them.
    if (seen.has(message.id)) continue;
    seen.add(message.id);
    const thread = threads.get(message.threadId);
    const unread = message.read ? 0 : 1;
    if (thread === undefined) {
      threads.set(message.threadId, {
        id: message.threadId,
        newest: message,
        messages: [message],
        unread,
      });
    } else {
      thread.messages.push(message);
      thread.unread += unread;
    }
  }
  return [...threads.values()];
}

export function changeThread(
  pages: MessagePages,
  threadId: string,
  change: (message: MailMessage) => MailMessage | undefined,
): MessagePages {
  const changed = (items: MailMessage[]) =>
    items.flatMap((message) => (message.threadId === threadId ? (change(message) ?? []) : message));
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: changed(page.items) })) };
}

export type MessageChange = BodyOf<ApiRoutes["inbox"]["update"]>;

/**
 * Returns the change that undoes archiving or snoozing; undefined for changes that can be undone in
 * place.
 */
export function undoing({ archived, snoozedUntil }: MessageChange): MessageChange | undefined {
  if (archived !== undefined) return { archived: !archived };
  return snoozedUntil ? { snoozedUntil: null } : undefined;
}

/** Returns the other party shown in the list: the sender, or the recipient of a sent message. */
export function partnerOf(message: MailMessage, isSent: boolean) {
  return isSent ? message.to : message.from;
}

/** Lists the senders of loaded messages by name, each once. */
export function sendersOf(lists: readonly (MessagePages | undefined)[]): MailMessage["from"][] {
  const byId = new Map<string, MailMessage["from"]>();
  for (const list of lists)
    for (const { from } of (list?.pages ?? []).flatMap((page) => page.items))
      if (!byId.has(from.id)) byId.set(from.id, from);
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name));
}
