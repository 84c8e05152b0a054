/**
 * Words of the index and of queries. User input becomes words here and nothing else, so there is no
 * invalid query: a word has letters, digits and characters outside ASCII, and every other character is
 * mapped to a private-use one. Pure.
 */
import { cleanText } from "#base/text/clean-text.ts";
import { fold, isStopWord, termOf, wordSegments } from "#base/text/search-terms.ts";
import { MAX_QUERY_CHARS } from "../contract.ts";

/** Maximum of words of one document; a longer text is found by its beginning. */
const MAX_WORDS = 4_000;
export const MAX_TEXT_CHARS = 32_000;
/** Maximum of terms in a query. */
const MAX_TERMS = 12;
const MAX_TOGETHER = 24;
/** Minimum length of a prefix: a shorter one matches too many words. */
const MIN_BEGINNING = 3;

/** First character of every mark; no word contains it. */
const MARK = "\ue000";
const SIGNS_FROM = 0xe100;
const ANY_SIGN = /\S/gu;
/** Signs that are frequent in code and tables and mean nothing to a reader. */
const SIGN_OF_CODE = /^[$+<=>^`|~]$/;

/** Escapes text, so that every database takes it for a word. */
function plain(text: string): string {
  return text.replaceAll(NOT_A_WORD, (c) => String.fromCharCode(SIGNS_FROM + c.charCodeAt(0)));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are signs too.
const NOT_A_WORD = /[\x00-\x2f\x3a-\x60\x7b-\x7f]/g;

/** Readers of a document: a person, or everybody of an org. */
export type Reader = { userId: string } | { orgId: string };

export function markOf(kind: string, reader: Reader): string {
  const who = "userId" in reader ? `u${reader.userId}` : `o${reader.orgId}`;
  return `${MARK}${kind}${plain(`:${who}`)}`;
}

export interface IndexedText {
  /** Words with one space before and after each; empty if there are none. */
  words: string;
  /** Pairs of neighbouring letters, for scripts without spaces. */
  pairs: string[];
}

export function indexText(text: string): IndexedText {
  const words: string[] = [];
  const pairs = new Set<string>();
  for (const { letters, word } of unitsOf(text.slice(0, MAX_TEXT_CHARS).toWellFormed())) {
    if (words.length >= MAX_WORDS) break;
    if (word !== undefined) words.push(word);
    else {
      words.push(...letters);
      for (const pair of pairsOf(letters)) pairs.add(pair);
    }
  }
  return { words: words.length === 0 ? "" : ` ${words.join(" ")} `, pairs: [...pairs] };
}

interface Unit {
  /** Unset for a run of letters without spaces. */
  word?: string;
  letters: string[];
}

/** Splits text into units. A text without words can be found by its signs. */
function unitsOf(text: string): Unit[] {
  // Folding may make a text much longer.
  const folded = fold(text).slice(0, MAX_TEXT_CHARS).toWellFormed();
  const words = [...wordsOf(folded)];
  if (words.length > 0) return words;
  const signs = [...(folded.trim() === "" ? text : folded).matchAll(ANY_SIGN)];
  return signs.map(([sign]) => ({ word: plain(sign), letters: [] }));
}

function* wordsOf(folded: string): Generator<Unit> {
  for (const { text, unspaced } of wordSegments(folded)) {
    if (unspaced) yield { letters: [...text] };
    else if (!SIGN_OF_CODE.test(text)) yield { word: termOf(text), letters: [] };
  }
}

function pairsOf(letters: readonly string[]): string[] {
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** A condition that a document must meet. */
export interface Term {
  /** One word, or several that stand together in this order. */
  words: string[];
  /** Keys that the index must contain, all of them. */
  keys: string[];
  /** True if the last word is a prefix. */
  isBeginning: boolean;
  /** True if the term was in quotes. */
  isQuoted: boolean;
}

const QUOTED = /["“”„]([^"“”„]*)["“”„]/gu;

/** Parses a query; empty if there is nothing to look for. */
export function termsOf(query: string): Term[] {
  const cleaned = cleanText(query.slice(0, MAX_QUERY_CHARS));
  const text = fold(cleaned);
  const terms: Term[] = [];
  let from = 0;
  for (const { 0: whole, 1: quoted = "", index } of text.matchAll(QUOTED)) {
    terms.push(...plainTerms(wordsOf(text.slice(from, index))), ...quotedTerms(quoted));
    from = index + whole.length;
  }
  const rest = [...plainTerms(wordsOf(text.slice(from)))];
  const last = rest.at(-1);
  if (last?.words.length === 1 && [...(last.words[0] ?? "")].length >= MIN_BEGINNING)
    last.isBeginning = true;
  const found = [...terms, ...rest];
  return distinct(found.length > 0 ? found : plainTerms(unitsOf(cleaned))).slice(0, MAX_TERMS);
}

function plainTerms(units: Iterable<Unit>): Term[] {
  return [...units].map(({ word, letters }) => ({
    words: word === undefined ? letters.slice(0, MAX_TOGETHER) : [word],
    keys: word === undefined ? keysOf(letters) : [word],
    isBeginning: false,
    isQuoted: false,
  }));
}

function quotedTerms(text: string): Term[] {
  const units = [...wordsOf(text)];
  if (units.length === 0) return [];
  const words = units.flatMap(({ word, letters }) => (word === undefined ? letters : [word]));
  const keys = units.flatMap(({ word, letters }) =>
    word === undefined ? keysOf(letters) : [word],
  );
  return [
    {
      words: words.slice(0, MAX_TOGETHER),
      keys: [...new Set(keys)].slice(0, MAX_TOGETHER),
      isBeginning: false,
      isQuoted: true,
    },
  ];
}

function keysOf(letters: readonly string[]): string[] {
  const some = letters.slice(0, MAX_TOGETHER);
  return some.length === 1 ? some : [...new Set(pairsOf(some))];
}

function distinct(terms: readonly Term[]): Term[] {
  const byWords = new Map<string, Term>();
  for (const term of terms) {
    const key = term.words.join(" ");
    const known = byWords.get(key);
    if (!known) byWords.set(key, term);
    else if (term.isBeginning) known.isBeginning = true;
  }
  return [...byWords.values()];
}

/**
 * Returns the terms to try when no document has all of them: any term except stop words. Undefined if
 * there is only one term or nothing but stop words, or if quotes name exactly what is wanted.
 */
export function anyOf(terms: readonly Term[]): Term[] | undefined {
  if (terms.length < 2 || terms.some(({ isQuoted }) => isQuoted)) return undefined;
  const telling = terms.filter(({ words }) => words.length > 1 || !isStopWord(words[0] ?? ""));
  return telling.length === 0 ? undefined : telling;
}
