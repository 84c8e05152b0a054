/** Letters put together by the exchange they belong to, and kept true when one of them changed. Pure. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { Letter } from "#features/mailbox/contract.ts";
import type { Page } from "#protocol/page.ts";

export type LetterPages = InfiniteData<Page<Letter>, unknown>;

export interface LetterThread {
  id: string;
  /** The one that decides its place. */
  newest: Letter;
  /** Those of it that are listed. */
  letters: Letter[];
  unread: number;
}

/** In the order in which the server lists them: an exchange stands where its first letter does. */
export function threadsOf(pages: LetterPages | undefined): LetterThread[] {
  const threads = new Map<string, LetterThread>();
  const seen = new Set<string>();
  for (const letter of (pages?.pages ?? []).flatMap((page) => page.items)) {
    // A letter that came back while pages were read may stand on two of them.
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

/** Brings back what was put off or put away; undefined for what can be changed again where it stands. */
export function undoing({ archived, snoozedUntil }: LetterChange): LetterChange | undefined {
  if (archived !== undefined) return { archived: !archived };
  return snoozedUntil ? { snoozedUntil: null } : undefined;
}

/** Whom the list says it is with: who wrote it, or to whom one did. */
export function partnerOf(letter: Letter, isSent: boolean) {
  return isSent ? letter.to : letter.from;
}

/** Who wrote what is listed, by name, each once. */
export function sendersOf(lists: readonly (LetterPages | undefined)[]): Letter["from"][] {
  const byId = new Map<string, Letter["from"]>();
  for (const list of lists)
    for (const { from } of (list?.pages ?? []).flatMap((page) => page.items))
      if (!byId.has(from.id)) byId.set(from.id, from);
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name));
}
