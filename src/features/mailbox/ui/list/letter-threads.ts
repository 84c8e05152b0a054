/** Messages grouped by thread, and updates of cached lists after a change. Pure. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { Letter } from "#features/mailbox/contract.ts";
import type { Page } from "#protocol/page.ts";

export type LetterPages = InfiniteData<Page<Letter>, unknown>;

export interface LetterThread {
  id: string;
  /** Message that decides the thread's place in the list. */
  newest: Letter;
  /** Messages of the thread that are listed. */
  letters: Letter[];
  unread: number;
}

/** Groups messages in the server's order: a thread stands where its first listed message does. */
export function threadsOf(pages: LetterPages | undefined): LetterThread[] {
  const threads = new Map<string, LetterThread>();
  const seen = new Set<string>();
  for (const letter of (pages?.pages ?? []).flatMap((page) => page.items)) {
    // A message that moved while pages were read may be on two of them.
    if (seen.has(letter.id)) continue;
    seen.add(letter.id);
    const thread = threads.get(letter.threadId);
    const unread = letter.read ? 0 : 1;
    if (thread === undefined) {
      threads.set(letter.threadId, {
        id: letter.threadId,
        newest: letter,
        letters: [letter],
        unread,
      });
    } else {
      thread.letters.push(letter);
      thread.unread += unread;
    }
  }
  return [...threads.values()];
}

export function changeThread(
  pages: LetterPages,
  threadId: string,
  change: (letter: Letter) => Letter | undefined,
): LetterPages {
  const changed = (items: Letter[]) =>
    items.flatMap((letter) => (letter.threadId === threadId ? (change(letter) ?? []) : letter));
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: changed(page.items) })) };
}

export type LetterChange = BodyOf<ApiRoutes["inbox"]["update"]>;

/**
 * Returns the change that undoes archiving or snoozing; undefined for changes that can be undone in
 * place.
 */
export function undoing({ archived, snoozedUntil }: LetterChange): LetterChange | undefined {
  if (archived !== undefined) return { archived: !archived };
  return snoozedUntil ? { snoozedUntil: null } : undefined;
}

/** Returns the other party shown in the list: the sender, or the recipient of a sent message. */
export function partnerOf(letter: Letter, isSent: boolean) {
  return isSent ? letter.to : letter.from;
}

/** Lists the senders of loaded messages by name, each once. */
export function sendersOf(lists: readonly (LetterPages | undefined)[]): Letter["from"][] {
  const byId = new Map<string, Letter["from"]>();
  for (const list of lists)
    for (const { from } of (list?.pages ?? []).flatMap((page) => page.items))
      if (!byId.has(from.id)) byId.set(from.id, from);
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name));
}
