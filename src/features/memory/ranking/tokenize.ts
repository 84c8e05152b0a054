/**
 * Text as terms that can be counted and found again. Pure. Every text that has something in it
 * besides white space has at least one term.
 */
import { fold, isStopWord, termOf, wordSegments } from "#base/text/search-terms.ts";

/** What one memory is found by at most; a longer text is found by its beginning. */
const MAX_TERMS = 1_000;

const ANY_SIGN = /\S/gu;

/** Each term with how often it stands there. */
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
  // What has no word in it must be found too: it was worth keeping to somebody.
  for (const signs of [plain, text])
    if (counts.size === 0) for (const [sign] of signs.matchAll(ANY_SIGN)) count(sign);
  return counts;
}

/** Each letter, and each two beside each other: so a question of one letter finds something too. */
function termsOfRun(letters: readonly string[], count: (term: string) => void): void {
  for (const [at, letter] of letters.entries()) {
    count(letter);
    const next = letters[at + 1];
    if (next !== undefined) count(letter + next);
  }
}

/** The terms that say what a text is about. */
export function tellingTerms(terms: ReadonlyMap<string, number>): string[] {
  return [...terms.keys()].filter((term) => !isStopWord(term));
}

/** The same; all of them when there are no others. */
export function topicTerms(terms: ReadonlyMap<string, number>): string[] {
  const telling = tellingTerms(terms);
  return telling.length > 0 ? telling : [...terms.keys()];
}

/** How many words it has, with each as often as it stands there. */
export function lengthOf(terms: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of terms.values()) sum += count;
  return sum;
}
