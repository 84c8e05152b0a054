/**
 * Finds memories by plain words. The database returns the postings; the scores are computed here, so
 * both databases give the same order. A query is only words, so there is no invalid query.
 */
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import { type Filter, listByIds, lockScope, markRead } from "../queries.ts";
import type { MemoryRow, MemoryScopeRow } from "../schema.ts";
import { byScore, type Hit, type Posting, Scores } from "./bm25.ts";
import { boosted } from "./relevance.ts";
import { countTerms, listPostings } from "./term-queries.ts";
import { termsOf } from "./tokenize.ts";

/**
 * Maximum of postings to read for one query, rarest terms first.
 * The other terms are looked up for the best hits only.
 */
const MAX_POSTINGS = 2_000;
const MIN_OF_SCOPE = 20;
const MAX_CANDIDATES = 200;
/** Maximum of terms in a query. */
const MAX_TERMS = 64;

export interface Ranked {
  row: MemoryRow;
  score: number;
}

/** Searches memories, best first. `after`: the last hit of the preceding page. */
export async function searchMemories(
  reader: Reader,
  scopes: readonly MemoryScopeRow[],
  terms: readonly string[],
  { limit, after, ...filter }: Filter & { limit: number; after?: Hit | undefined },
): Promise<Ranked[]> {
  const hits = await rank(reader, scopes, terms.slice(0, MAX_TERMS), filter);
  const shown = after ? hits.filter((hit) => byScore(after, hit) < 0) : hits;
  const best = shown.slice(0, limit);
  const rows = await listByIds(
    reader,
    best.map(({ id }) => id),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return best.flatMap(({ id, score }) => {
    const row = byId.get(id);
    return row ? [{ row, score }] : [];
  });
}

export function queryTerms(query: string): string[] {
  return [...termsOf(query).keys()];
}

async function rank(
  reader: Reader,
  scopes: readonly MemoryScopeRow[],
  terms: readonly string[],
  filter: Filter,
): Promise<Hit[]> {
  const ids = scopes.map(({ id }) => id);
  if (ids.length === 0 || terms.length === 0) return [];
  const frequency = await countTerms(reader, ids, terms);
  if (frequency.size === 0) return [];
  const scores = new Scores({
    memories: scopes.reduce((sum, { memories }) => sum + memories, 0),
    length: scopes.reduce((sum, { length }) => sum + length, 0),
    frequency,
  });
  const { whole, cut, rest } = divide(frequency);
  if (cut !== undefined) scores.add(cut, await newestOf(reader, ids, cut, filter));
  else addAll(scores, whole, await listPostings(reader, { scopes: ids, terms: whole, ...filter }));
  const hits = scores.hits();
  if (rest.length === 0 || hits.length === 0) return hits;
  const best = hits.slice(0, MAX_CANDIDATES).map(({ id }) => id);
  addAll(scores, rest, await listPostings(reader, { memories: best, terms: rest }));
  const isBest = new Set(best);
  return scores.hits().filter(({ id }) => isBest.has(id));
}

/**
 * Reads the newest postings of each scope, which is their stored order;
 * a merged list would have to be sorted.
 */
async function newestOf(
  reader: Reader,
  scopes: readonly string[],
  term: string,
  filter: Filter,
): Promise<Posting[]> {
  const newest = Math.max(MIN_OF_SCOPE, Math.ceil(MAX_POSTINGS / scopes.length));
  const found: Posting[] = [];
  for (const id of scopes)
    found.push(...(await listPostings(reader, { scopes: [id], terms: [term], newest, ...filter })));
  return found;
}

/**
 * Divides the terms, rarest first.
 * `cut`: even the rarest term has more postings than are read, so only its newest are.
 */
function divide(frequency: ReadonlyMap<string, number>) {
  const terms = [...frequency].sort(([one, n], [other, m]) => n - m || (one < other ? -1 : 1));
  const [rarest] = terms;
  if (rarest && rarest[1] > MAX_POSTINGS)
    return { whole: [], cut: rarest[0], rest: terms.slice(1).map(([term]) => term) };
  const names = terms.map(([term]) => term);
  let room = MAX_POSTINGS;
  let count = 0;
  for (const [, n] of terms) {
    room -= n;
    if (room < 0) break;
    count += 1;
  }
  return { whole: names.slice(0, count), cut: undefined, rest: names.slice(count) };
}

/** Adds postings term by term in a fixed order, independent of the order of rows. */
function addAll(scores: Scores, terms: readonly string[], postings: readonly Posting[]): void {
  const byTerm = new Map<string, Posting[]>();
  for (const posting of postings) {
    const known = byTerm.get(posting.term);
    if (known) known.push(posting);
    else byTerm.set(posting.term, [posting]);
  }
  for (const term of terms) scores.add(term, byTerm.get(term) ?? []);
}

/** Marks found memories as read, which raises their relevance. Returns the updated rows. */
export async function markFoundRead(work: Work, rows: readonly MemoryRow[]): Promise<MemoryRow[]> {
  const scopes = [...new Set(rows.map(({ shelf_id }) => shelf_id))].sort();
  // Locked in one order, so that two readers never wait for each other.
  for (const id of scopes) await lockScope(work.tx, id);
  const current = await listByIds(
    work.tx,
    rows.map(({ id }) => id),
  );
  const { now } = work;
  const read = current.map((row) => ({
    ...row,
    fades_at: boosted(row.fades_at, now),
    access_count: row.access_count + 1,
    last_accessed_at: now,
  }));
  if (read.length > 0) await markRead(work.tx, read, now);
  const byId = new Map(read.map((row) => [row.id, row]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}
