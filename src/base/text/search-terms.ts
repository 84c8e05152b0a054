/**
 * Splits text into search terms, in the same way for stored text and queries. Neither database
 * takes part, so both find the same. Pure.
 */

/** Scripts without spaces, and sound marks that belong to no script. */
const UNSPACED =
  /[ーｰﾞﾟ\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
/** Words, and symbols with a meaning of their own, such as an emoji or a currency. */
const WORDS = /[\p{L}\p{N}\p{M}]+|\p{S}/gu;

/** Anything outside ASCII; ASCII only needs its case folded. */
const FOREIGN = /[\u{80}-\u{10ffff}]/u;

/** More marks on one letter than any language uses; sorting them takes quadratic time. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/** Accents of Latin, Greek and Cyrillic letters. In other scripts, marks are vowels. */
const ACCENTS = /[\u0300-\u036f]/g;

const MAX_WORD_CHARS = 48;

/** Folds text for comparison: case, width and accents do not matter. */
export function fold(text: string): string {
  if (!FOREIGN.test(text)) return text.toLowerCase();
  return text
    .replaceAll(TOO_MANY_MARKS, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(ACCENTS, "")
    .normalize("NFC");
}

export interface WordSegment {
  text: string;
  /** Start, in UTF-16 code units. */
  index: number;
  /** Letters of a script without spaces: several words, with unknown boundaries. */
  unspaced: boolean;
}

/** Yields the words of a text in order, as written. */
export function* wordSegments(text: string): Generator<WordSegment> {
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    let from = 0;
    for (const { 0: run, index: at } of word.matchAll(UNSPACED)) {
      if (at > from) yield { text: word.slice(from, at), index: index + from, unspaced: false };
      yield { text: run, index: index + at, unspaced: true };
      from = at + run.length;
    }
    if (from < word.length)
      yield { text: from === 0 ? word : word.slice(from), index: index + from, unspaced: false };
  }
}

/** Search term of a folded word: an English plural counts as its singular. */
export function termOf(word: string): string {
  if (word.length > MAX_WORD_CHARS) return [...word].slice(0, MAX_WORD_CHARS).join("");
  return /^[a-z]{2,}[a-hj-rtv-z]s$/.test(word) ? word.slice(0, -1) : word;
}

const STOP_WORDS = new Set(
  `a about after all also always an and any are as at be because been before but by can could did do
   does for from had has have he her him his how i if in into is it its just me more most my never no
   not of on only or our out over she should so some than that the their them then there these they
   this to up us use user want was we were what when where which who why will with would you your
   please need let make get`
    .split(/\s+/)
    .map((word) => termOf(word)),
);

/** True for words that say nothing about a text's topic. */
export function isStopWord(term: string): boolean {
  return STOP_WORDS.has(term);
}
