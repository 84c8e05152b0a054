/**
 * Earlier turns in the model's context. The last exchanges stay verbatim; older ones are summed up
 * at the beginning of a turn, and the summary is kept in the session's log. An exchange is a prompt
 * with everything that followed it.
 */
import type { HistoryItem } from "#protocol/frames.ts";
import type { Turn } from "../../runtime.ts";
import { clipEntry, sizeOf } from "./entry-text.ts";

export const VERBATIM_EXCHANGES = 50;
/** A summary costs a request, so it is not made for each turn. */
const SUM_UP_BEYOND = 60;
/** Near the context of common models, with room for the turn itself. */
const MAX_CHARS = 400_000;
const PAGE = 200;
/** Size of the newest entries that are held whole; older entries are held shortened. */
const HELD_WHOLE_CHARS = 1_500_000;
/** Size of the oldest entries that are held: about what one turn can sum up. */
const HELD_SHORT_CHARS = 1_500_000;

export interface Exchange {
  items: HistoryItem[];
  chars: number;
}

/** Loaded entries of a thread, from both ends. */
export interface LoadedHistory {
  /** Summary of everything older than these entries. */
  summary: string | null;
  /** As the server reports; see `History`. */
  summaryDue?: boolean | undefined;
  /** Shortened entries from the first that is not summed up, without a gap. */
  oldest: HistoryItem[];
  /** Exchanges between the two that are not held; 0 when `newest` continues where `oldest` ends. */
  gap: number;
  newest: HistoryItem[];
}

/** Earlier turns as a turn begins with them. */
export interface Earlier {
  summary: string | null;
  /** Number of exchanges that are neither summed up nor included. */
  hidden: number;
  exchanges: Exchange[];
}

/**
 * Reads back to the end of the earlier summary, because only from there on can more be summed up: a
 * summary hides all that is older than its last entry.
 */
export async function loadEarlier(turn: Turn, held = HELD_SHORT_CHARS): Promise<LoadedHistory> {
  const reading = new Reading(held);
  let summary: string | null = null;
  let summaryDue: boolean | undefined;
  let before: number | null = null;
  for (let more = !turn.assignment.isFirst; more; ) {
    // The turn ends before its first request, so nothing of this counts.
    if (turn.signal.aborted) return { summary, oldest: [], gap: 1, newest: [] };
    const page = await turn.history(before, PAGE);
    summary = page.summary;
    summaryDue = page.summaryDue;
    for (const entry of page.items.toReversed()) reading.take(entry);
    reading.letGo();
    before = page.items[0]?.seq ?? null;
    more = page.more && before !== null;
  }
  return { summary, summaryDue, ...reading.end(summary !== null) };
}

/** Entries as they are read, from the newest back. */
class Reading {
  readonly #heldShort: number;
  readonly #newest: HistoryItem[] = [];
  readonly #oldest: HistoryItem[] = [];
  #newestChars = 0;
  #oldestChars = 0;
  #isGap = false;
  #promptsInGap = 0;

  constructor(heldShort: number) {
    this.#heldShort = heldShort;
  }

  take(entry: HistoryItem): void {
    if (this.#newestChars < HELD_WHOLE_CHARS) {
      this.#newest.push(entry);
      this.#newestChars += sizeOf(entry.item);
      return;
    }
    const item = clipEntry(entry.item);
    if (!item) return;
    this.#oldest.push({ ...entry, item });
    this.#oldestChars += sizeOf(item);
  }

  /** Drops entries that are near neither end; a later turn reads them. */
  letGo(): void {
    let count = 0;
    for (const { item } of this.#oldest) {
      if (this.#oldestChars <= this.#heldShort) break;
      this.#oldestChars -= sizeOf(item);
      if (item.type === "prompt") this.#promptsInGap += 1;
      count += 1;
    }
    this.#oldest.splice(0, count);
    if (count > 0) this.#isGap = true;
  }

  /**
   * Ends the reading. `isContinued`: the entries follow a summary. Otherwise entries before the
   * first prompt answer one that was cleared away, and are dropped with it.
   */
  end(isContinued: boolean): Omit<LoadedHistory, "summary"> {
    const oldest = this.#oldest.reverse();
    const newest = this.#newest.reverse();
    const gap = this.#isGap ? Math.max(1, this.#promptsInGap) : 0;
    if (isContinued) return { oldest, gap, newest };
    if (gap > 0) return { oldest: fromPrompt(oldest), gap, newest };
    const all = fromPrompt([...oldest, ...newest]);
    return { oldest: [], gap, newest: all };
  }
}

function fromPrompt(items: HistoryItem[]): HistoryItem[] {
  const first = items.findIndex(({ item }) => item.type === "prompt");
  return first < 0 ? [] : items.slice(first);
}

export function exchangesOf(items: readonly HistoryItem[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const item of items) {
    const current = exchanges.at(-1);
    if (item.item.type === "prompt" || !current) exchanges.push({ items: [item], chars: 0 });
    else current.items.push(item);
  }
  for (const exchange of exchanges)
    exchange.chars = exchange.items.reduce((sum, { item }) => sum + sizeOf(item), 0);
  return exchanges;
}

/** Number of oldest exchanges that must be summarized; 0 if all may stay. */
export function tooMany(exchanges: readonly Exchange[], maxChars = MAX_CHARS): number {
  const chars = exchanges.reduce((sum, exchange) => sum + exchange.chars, 0);
  if (exchanges.length <= SUM_UP_BEYOND && chars <= maxChars) return 0;
  let kept = 0;
  let keptChars = 0;
  for (const exchange of exchanges.toReversed()) {
    keptChars += exchange.chars;
    // Half, so that the next turns have room and need no summary of their own.
    if (kept >= VERBATIM_EXCHANGES || (kept > 0 && keptChars > maxChars / 2)) break;
    kept += 1;
  }
  return exchanges.length - kept;
}

/**
 * Divides the history into what is summed up, what stays, and a count of exchanges that can be
 * neither.
 */
export function divide({ oldest, gap, newest }: LoadedHistory) {
  const exchanges = exchangesOf(gap === 0 ? [...oldest, ...newest] : newest);
  const count = tooMany(exchanges);
  const before = exchanges.slice(0, count);
  const kept = exchanges.slice(count);
  return gap === 0
    ? { old: before.flatMap(({ items }) => items), hidden: 0, kept }
    : { old: oldest, hidden: gap + before.length, kept };
}
