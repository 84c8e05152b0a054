/** Topic of a memory: its terms, its normalized title, and the search for another memory about the same. */
import type { Reader } from "#base/store/index.ts";
import { fold } from "#base/text/search-terms.ts";
import { MAX_TITLE_CHARS } from "../contract.ts";
import { findByTitle, listByIds } from "../queries.ts";
import type { MemoryRow, TermRow } from "../schema.ts";
import { jaccard } from "./bm25.ts";
import { listSharing } from "./term-queries.ts";
import { lengthOf, termsOf, topicTerms } from "./tokenize.ts";

/**
 * Minimum share of common terms of two texts about the same topic. A correction keeps nearly all words
 * of a short sentence; two facts of the same form differ in the word that matters, which is a fifth of
 * it or more. The tests hold pairs of both kinds.
 */
export const SAME_TOPIC = 0.8;
/** Maximum of terms to compare; longer texts are compared by their titles alone. */
const MAX_COMPARED = 200;
const MAX_CANDIDATES = 50;

export interface TextTerms {
  terms: ReadonlyMap<string, number>;
  topic: readonly string[];
  titleKey: string;
}

export interface MemoryText {
  title: string | null;
  content: string;
}

export function termsOfText({ title, content }: MemoryText): TextTerms {
  // Content and title are split separately, so that content without words is found by its signs even if
  // its title has words.
  const terms = termsOf(content);
  for (const [term, count] of termsOf(title ?? "")) terms.set(term, (terms.get(term) ?? 0) + count);
  return { terms, topic: topicTerms(terms), titleKey: titleKey(title) };
}

/** Normalizes a title: signs, spaces, accents and capitals make no difference. */
export function titleKey(title: string | null): string {
  if (title === null) return "";
  const folded = fold(title);
  const words = folded.replaceAll(/[^\p{L}\p{N}\p{M}\p{S}]+/gu, " ").trim();
  return (words || folded.trim()).slice(0, MAX_TITLE_CHARS).toWellFormed();
}

export function termRows({ id, shelf_id, length }: MemoryRow, { terms }: TextTerms): TermRow[] {
  return [...terms].map(([term, count]) => ({ shelf_id, term, memory_id: id, count, length }));
}

export function sizesOf(words: TextTerms): Pick<MemoryRow, "length" | "topic_terms" | "title_key"> {
  return {
    length: lengthOf(words.terms),
    topic_terms: words.topic.length,
    title_key: words.titleKey,
  };
}

/** Finds a memory about the same topic. Two different titles mean that somebody has named two topics. */
export async function findSameTopic(
  reader: Reader,
  scopeId: string,
  category: string,
  { titleKey: key, topic }: TextTerms,
): Promise<MemoryRow | undefined> {
  const named = key === "" ? undefined : await findByTitle(reader, scopeId, category, key);
  if (named || topic.length === 0 || topic.length > MAX_COMPARED) return named;
  const atLeast = Math.ceil(SAME_TOPIC * topic.length);
  const shared = await listSharing(reader, scopeId, topic, atLeast, MAX_CANDIDATES);
  const alike = (row: MemoryRow) => jaccard(shared.get(row.id) ?? 0, topic.length, row.topic_terms);
  return (await listByIds(reader, [...shared.keys()]))
    .filter((row) => row.category === category && (key === "" || row.title_key === ""))
    .filter((row) => alike(row) >= SAME_TOPIC)
    .sort((one, other) => alike(other) - alike(one) || (one.id < other.id ? -1 : 1))[0];
}
