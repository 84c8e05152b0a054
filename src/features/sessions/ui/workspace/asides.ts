/** Turns in which an agent answers somebody other than its owner, each grouped at its first entry. Pure. */
import { isGuestThread } from "#protocol/notices/guests.ts";
import type { Entry } from "#protocol/sessions.ts";

/** One entry; with `rest`, a whole turn outside of the conversation. */
interface Turn {
  first: Entry;
  rest: Entry[] | null;
}

/** True for entries of a guest thread, which are not part of the owner's conversation. */
export function isAside({ thread }: Pick<Entry, "thread">): boolean {
  return isGuestThread(thread);
}

export function foldAsides(entries: readonly Entry[]): Turn[] {
  const turns: Turn[] = [];
  const asides = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = isAside(entry) ? (entry.promptId ?? entry.thread) : undefined;
    const known = key === undefined ? undefined : asides.get(key);
    if (known) {
      known.push(entry);
      continue;
    }
    if (key === undefined) {
      turns.push({ first: entry, rest: null });
      continue;
    }
    // The prompt may be older than the loaded entries: then the group starts with a reply.
    const rest = entry.kind === "prompt" ? [] : [entry];
    asides.set(key, rest);
    turns.push({ first: entry, rest });
  }
  return turns;
}
