/**
 * What the model is told of earlier turns. The last exchanges stay verbatim; what is older is summed
 * up once, at the beginning of a turn, and the summary is kept in the session's log. An exchange is
 * a prompt with everything that followed it, and is never split.
 */
import type { HistoryItem } from "#protocol/frames.ts";
import type { Turn } from "../runtime.ts";

export const VERBATIM_EXCHANGES = 50;
/** Summing up costs a request, so it is not done for each turn. */
const SUM_UP_BEYOND = 60;
/** Near what common models can read, with room for the turn itself. */
const MAX_CHARS = 400_000;
const PAGE = 200;
/** Enough for the verbatim part of any reasonable thread; what lies before it is summed up in pieces. */
const MAX_ITEMS = 5_000;

export interface Exchange {
  items: HistoryItem[];
  chars: number;
}

export interface Earlier {
  /** Of what is older than the exchanges. */
  summary: string | null;
  exchanges: Exchange[];
}

export async function loadEarlier(turn: Turn): Promise<Earlier> {
  if (turn.assignment.isFirst) return { summary: null, exchanges: [] };
  const items: HistoryItem[] = [];
  let summary: string | null = null;
  let before: number | null = null;
  while (items.length < MAX_ITEMS) {
    const page = await turn.history(before, PAGE);
    summary = page.summary;
    items.unshift(...page.items);
    const oldest = page.items[0];
    if (page.items.length < PAGE || !oldest) break;
    before = oldest.seq;
  }
  return { summary, exchanges: exchangesOf(items) };
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

/** How many of the oldest exchanges must be summed up; 0 when all may stay. */
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

export function sizeOf(item: HistoryItem["item"]): number {
  switch (item.type) {
    case "prompt":
    case "message":
    case "notice":
      return item.text.length;
    case "pre_tool":
      return JSON.stringify(item.input ?? null).length;
    case "post_tool":
      return JSON.stringify(item.output ?? null).length + (item.error?.length ?? 0);
    default:
      return 0;
  }
}

const SHOWN_CHARS = 4_000;

/** Exchanges as plain text, for the model that sums them up. */
export function toText(exchanges: readonly Exchange[]): string {
  return exchanges
    .flatMap(({ items }) => items.map(({ item }) => lineOf(item)))
    .filter((line) => line !== "")
    .join("\n");
}

function lineOf(item: HistoryItem["item"]): string {
  switch (item.type) {
    case "prompt":
      return `${item.author.name}: ${shorten(item.text)}`;
    case "message":
      return item.kind === "text" ? `agent: ${shorten(item.text)}` : "";
    case "pre_tool":
      return `agent calls ${item.tool}: ${shorten(JSON.stringify(item.input ?? null))}`;
    case "post_tool":
      return `${item.tool} gives: ${shorten(item.error ?? JSON.stringify(item.output ?? null))}`;
    default:
      return "";
  }
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} …` : text;
}
