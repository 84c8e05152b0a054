/**
 * Cached transcript in two parts: `pages` of history, read backwards, and the `tail` from the live
 * socket. They are separate because a page that arrives replaces all pages, and would drop entries that
 * came while it was loading.
 */
import type { InfiniteData } from "@tanstack/react-query";
import type { SessionEvent } from "#protocol/events.ts";
import type { Page } from "#protocol/page.ts";
import type { Entry } from "#protocol/sessions.ts";
import { entryFromEvent } from "./entry-from-event.ts";

export const TRANSCRIPT_PAGE = 100;

export type TranscriptPages = InfiniteData<Page<Entry>, unknown>;
export type Tail = readonly Entry[];

export const NO_TAIL: Tail = [];

/** Returns the end of the page before this one; a page that is not full is the session's first. */
export function olderThan(page: Page<Entry>): number | undefined {
  if (page.items.length < TRANSCRIPT_PAGE) return undefined;
  return Math.min(...page.items.map((entry) => entry.seq));
}

/** Merges both parts in order, each entry once, in its newest version, at the place where it began. */
export function mergeEntries(pages: TranscriptPages | undefined, tail: Tail): Entry[] {
  const byKey = new Map<string, Entry>();
  let oldest = Number.POSITIVE_INFINITY;
  for (const page of pages?.pages ?? []) {
    for (const entry of page.items) {
      byKey.set(entryKey(entry), entry);
      oldest = Math.min(oldest, entry.seq);
    }
  }
  const hasHistory = byKey.size > 0;
  for (const entry of tail) {
    const known = byKey.get(entryKey(entry));
    // A tail from an earlier visit may end before the pages begin: its entries would leave a gap.
    if (known === undefined && hasHistory && entry.seq < oldest) continue;
    byKey.set(
      entryKey(entry),
      known ? { ...entry, seq: known.seq, author: entry.author ?? known.author } : entry,
    );
  }
  return [...byKey.values()].sort((a, b) => a.seq - b.seq);
}

/** Returns the last event whose entry is cached: live reading starts after it. */
export function lastSeq(pages: TranscriptPages | undefined, tail: Tail): number {
  return mergeEntries(pages, tail).at(-1)?.seq ?? 0;
}

export function addToTail(tail: Tail, events: readonly SessionEvent[]): Tail {
  const byKey = new Map(tail.map((entry) => [entryKey(entry), entry]));
  let isChanged = false;
  for (const event of events) {
    const entry = entryFromEvent(event);
    if (entry === undefined) continue;
    const known = byKey.get(entryKey(entry));
    byKey.set(entryKey(entry), known ? { ...entry, seq: known.seq } : entry);
    isChanged = true;
  }
  return isChanged ? [...byKey.values()] : tail;
}

/** Leaves out redacted entries; the transcript is read anew with what is left of them. */
export function withoutRedacted(tail: Tail, ids: ReadonlySet<string>): Tail {
  return tail.filter(({ id }) => !ids.has(id));
}

/** Distinguishes a tool's call from its result, which may share one entry id. */
function entryKey(entry: Entry): string {
  return entry.kind === "tool_result" ? `${entry.id}:result` : entry.id;
}
