/** Turns in which an agent answers somebody other than its person, each put together where it began. Pure. */
import { isGuestThread } from "#protocol/notices/guests.ts";
import type { Entry } from "#protocol/sessions.ts";

/** One entry; or, with `rest`, what was said in a whole turn that is no part of the conversation. */
interface Turn {
  first: Entry;
  rest: Entry[] | null;
}

/** Part of what an agent says to somebody other than its person: no part of their conversation. */
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
    // What came before the oldest that was read is not there: then it begins with what was said.
    const rest = entry.kind === "prompt" ? [] : [entry];
    asides.set(key, rest);
    turns.push({ first: entry, rest });
  }
  return turns;
}
