/** Splits text into search terms. Pure. Every text that is not blank has at least one term. */
import { fold, isStopWord, termOf, wordSegments } from "#base/text/search-terms.ts";

/** Maximum of terms of one memory; a longer text is found by its beginning. */
const MAX_TERMS = 1_000;

const ANY_SIGN = /\S/gu;

/** Counts each term of a text. */
export function termsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (term: string) => {
    const before = counts.get(term);
    if (before === undefined && counts.size >= MAX_TERMS) return;
    counts.set(term, (before ?? 0) + 1);
  };
  const plain = fold(text);
  for (const piece of wordSegments(plain))
    if (piece.unspaced) termsOfRun([...piece.text], count);
    else count(termOf(piece.text));
  // A text without words must be found too: it was worth keeping to somebody.
  for (const signs of [plain, text])
    if (counts.size === 0) for (const [sign] of signs.matchAll(ANY_SIGN)) count(sign);
  return counts;
}

/** Counts each letter and each pair of neighbours, so that a query of one letter finds something too. */
function termsOfRun(letters: readonly string[], count: (term: string) => void): void {
  for (const [at, letter] of letters.entries()) {
    count(letter);
    const next = letters[at + 1];
    if (next !== undefined) count(letter + next);
  }
}

/** Returns the terms without stop words. */
export function significantTerms(terms: ReadonlyMap<string, number>): string[] {
  return [...terms.keys()].filter((term) => !isStopWord(term));
}

/** Returns the terms without stop words, or all of them if only stop words are left. */
export function topicTerms(terms: ReadonlyMap<string, number>): string[] {
  const telling = significantTerms(terms);
  return telling.length > 0 ? telling : [...terms.keys()];
}

/** Counts the words of a text, repeated ones included. */
export function lengthOf(terms: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of terms.values()) sum += count;
  return sum;
}
