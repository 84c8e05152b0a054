/**
 * One query over everything the person may see. The index ranks the candidates; the shown text is read
 * from the things themselves at that moment, and only if the person may still see them.
 */
import { Refusal } from "#base/refusal.ts";
import { type Reader, ReadersBusy, ReadTooSlow } from "#base/store/index.ts";
import { type Engine, may, type Principal, type SearchableRow } from "#engine/index.ts";
import { decodeCursor, encodeCursor } from "#engine/requests/index.ts";
import { isoTime } from "#engine/sessions/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import {
  SEARCH_TOO_SLOW,
  type SearchItem,
  type SearchPage,
  type SearchQuery,
} from "../contract.ts";
import type { Source, Sources } from "../indexing/sources.ts";
import { findNewest, type Hit, listHits, MAX_RANKED, type Match } from "./match-queries.ts";
import type { SearchTurns } from "./search-turns.ts";
import { markWhole, snippetOf } from "./snippet.ts";
import { anyOf, markOf, type Term, termsOf } from "./words.ts";

const LIMIT_MS = 2_000;
const LIST = "search";
/** Extra hits to read, because some documents may be gone. */
const SPARE = 10;
const READ_AT_ONCE = 50;
/** Number of characters to mark matches in before other work gets a turn. */
const CHARS_AT_ONCE = 64_000;

const EMPTY: SearchPage = { items: [], next: null };

export interface SearchParts {
  engine: Engine;
  sources: Sources;
  turns: SearchTurns;
}

export async function search(
  { engine, sources, turns }: SearchParts,
  principal: Principal,
  query: SearchQuery,
): Promise<SearchPage> {
  const person = requireUser(principal);
  return turns.take(engine, person.userId, () => find(engine, sources, person, query));
}

async function find(
  engine: Engine,
  sources: Sources,
  person: UserPrincipal,
  query: SearchQuery,
): Promise<SearchPage> {
  const chosen = choose(sources, person, query.kinds ?? []);
  const terms = termsOf(query.q);
  const position = parsePosition(query.cursor);
  if (terms.length === 0) return EMPTY;
  const now = position?.now ?? engine.clock.now();
  const through = position?.through ?? (await inTime(engine, (reader) => findNewest(reader)));
  const request = { marks: marksOf(chosen, person), now, through, offset: position?.offset ?? 0 };
  const readings = readingsOf(terms);
  let found = EMPTY;
  for (const [readingIndex, reading] of readings.entries()) {
    if (position && position.readingIndex !== readingIndex) continue;
    found = await readPage(
      engine,
      chosen,
      person,
      { ...request, ...reading, readingIndex },
      query.limit,
    );
    if (isEnough(found, readings[readingIndex + 1], query.limit)) break;
  }
  return found;
}

/**
 * Lists the readings of a query, tried in turn until there are enough hits: the exact words; the last
 * one as a prefix, which takes longer; any of the words.
 */
function readingsOf(terms: readonly Term[]): Pick<Match, "terms" | "isAny">[] {
  const whole = terms.map((term) => ({ ...term, isBeginning: false }));
  const some = anyOf(whole);
  return [
    { terms: whole, isAny: false },
    ...(terms.some(({ isBeginning }) => isBeginning) ? [{ terms, isAny: false }] : []),
    ...(some ? [{ terms: some, isAny: true }] : []),
  ];
}

/**
 * True if no further reading is needed.
 * A prefix finds more of the same; any of the words finds something else.
 */
function isEnough({ items }: SearchPage, next: { isAny: boolean } | undefined, limit: number) {
  return next === undefined || (next.isAny ? items.length > 0 : items.length >= limit);
}

/** Selects the requested kinds that the credential may read; refuses if none is left. */
function choose(sources: Sources, person: UserPrincipal, kinds: readonly string[]): Sources {
  const { orgId } = person;
  const chosen = [...sources].filter(
    ([kind, { action }]) =>
      (kinds.length === 0 || kinds.includes(kind)) && may(person, action, { orgId }),
  );
  if (chosen.length > 0) return new Map(chosen);
  throw new Refusal(
    "forbidden",
    "forbidden",
    "This credential may read none of these kinds. Use one with the right scope.",
  );
}

function marksOf(chosen: Sources, { orgId, userId }: UserPrincipal): string[] {
  return [...chosen.keys()].flatMap((kind) => [markOf(kind, { userId }), markOf(kind, { orgId })]);
}

type PageRequest = Omit<Match, "limit"> & { readingIndex: number };

/** Reads down the ranking until the page is full. */
async function readPage(
  engine: Engine,
  chosen: Sources,
  person: UserPrincipal,
  request: PageRequest,
  limit: number,
): Promise<SearchPage> {
  const items: SearchItem[] = [];
  let { offset } = request;
  for (let wanted = limit + SPARE; ; wanted *= 2) {
    const hits = await inTime(engine, (reader) =>
      listHits(reader, { ...request, offset, limit: wanted }),
    );
    const isLast = hits.length < wanted;
    const end = offset + hits.length;
    while (offset < end) {
      const room = Math.min(limit - items.length, READ_AT_ONCE);
      const some = hits.slice(offset - end).slice(0, room);
      const shown = await show(engine, chosen, person, some, request.terms);
      offset += some.length;
      items.push(...shown);
      if (items.length === limit)
        return { items, next: nextOf(request, offset, offset < end || !isLast) };
    }
    if (isLast) return { items, next: null };
  }
}

/** Renders hits in their order, without those that are gone or not visible to the person. */
async function show(
  engine: Engine,
  chosen: Sources,
  person: UserPrincipal,
  hits: readonly Hit[],
  terms: readonly Term[],
): Promise<SearchItem[]> {
  const rows = new Map<string, SearchableRow>();
  await engine.store.read(async (reader) => {
    for (const [kind, source] of chosen) {
      const refs = hits.filter((hit) => hit.kind === kind).map(({ ref }) => ref);
      if (refs.length === 0) continue;
      for (const row of await source.read(reader, refs)) rows.set(`${kind} ${row.id}`, row);
    }
  });
  const items: SearchItem[] = [];
  let chars = 0;
  for (const { kind, ref, score } of hits) {
    const source = chosen.get(kind);
    const row = rows.get(`${kind} ${ref}`);
    if (!source || !row || !maySee(person, row)) continue;
    items.push(itemOf(source, row, score, terms));
    chars += row.text.length;
    if (chars < CHARS_AT_ONCE) continue;
    chars = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return items;
}

function maySee({ orgId, userId }: UserPrincipal, row: SearchableRow): boolean {
  return row.orgId === orgId && (row.readers === "org" || row.readers.includes(userId));
}

function itemOf(
  { kind }: Source,
  row: SearchableRow,
  score: number,
  terms: readonly Term[],
): SearchItem {
  const title = markWhole(row.title, row.isTitleBorrowed ? [] : terms);
  const { text: snippet, matches } = snippetOf(row.text, terms);
  return {
    kind,
    id: row.id,
    title: title.text,
    titleMatches: title.matches,
    snippet,
    matches,
    score: Math.round(score * 1_000) / 1_000,
    url: row.url,
    at: isoTime(row.at),
  };
}

// Cursor of a page: documents written later do not move the following pages.

interface Position {
  now: number;
  through: number;
  offset: number;
  /** Index of the reading of the query. */
  readingIndex: number;
}

function nextOf(request: PageRequest, offset: number, hasMore: boolean): string | null {
  if (!hasMore || offset >= MAX_RANKED) return null;
  const id = [request.through, offset, request.readingIndex].join(".");
  return encodeCursor(LIST, { at: request.now, id });
}

function parsePosition(cursor: string | undefined): Position | undefined {
  const position = decodeCursor(LIST, cursor);
  if (!position) return undefined;
  const [through = 0, offset = 0, readingIndex = 0] = position.id.split(".").map(Number);
  const isWhole = [through, offset, readingIndex, position.at].every(Number.isSafeInteger);
  if (!isWhole || offset < 0 || offset > MAX_RANKED)
    throw new Refusal(
      "invalid",
      "cursor_invalid",
      "This cursor does not belong to this list. Start without a cursor and follow `next`.",
    );
  return { now: position.at, through, offset, readingIndex };
}

async function inTime<T>({ store }: Engine, work: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await store.readAside(LIMIT_MS, work);
  } catch (error) {
    if (error instanceof ReadersBusy)
      throw new Refusal("unavailable", "search_busy", "Search is busy. Try again in a moment.", {
        retryAfterMs: 2_000,
      });
    if (!(error instanceof ReadTooSlow)) throw error;
    throw new Refusal(
      "unavailable",
      SEARCH_TOO_SLOW,
      "This search took too long. Try again with more or rarer words.",
      { retryAfterMs: 2_000, cause: error },
    );
  }
}
