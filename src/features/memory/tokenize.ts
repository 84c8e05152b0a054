/**
 * Text as terms that can be counted and found again. The same for what is kept and for what is asked,
 * and for both databases, because neither has a say in it. Pure. Every text that has something in it
 * besides white space has at least one term.
 */

/** What one memory is found by at most; a longer text is found by its beginning. */
const MAX_TERMS = 1_000;
const MAX_TERM_CHARS = 48;

/** Scripts that are written without spaces: each letter, and each two beside each other, is a term. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
/** Words, and signs that mean something by themselves, such as an emoji or a currency. */
const WORDS = /[\p{L}\p{N}\p{M}]+|\p{S}/gu;
const ANY_SIGN = /\S/gu;

/** Accents that Latin, Greek and Cyrillic letters carry. Those of other scripts are vowels. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Each term with how often it stands there. */
export function termsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (term: string) => {
    const before = counts.get(term);
    if (before === undefined && counts.size >= MAX_TERMS) return;
    counts.set(term, (before ?? 0) + 1);
  };
  const plain = fold(text);
  for (const [word] of plain.matchAll(WORDS)) termsOfWord(word, count);
  // What has no word in it must be found too: it was worth keeping to somebody.
  for (const signs of [plain, text])
    if (counts.size === 0) for (const [sign] of signs.matchAll(ANY_SIGN)) count(sign);
  return counts;
}

/** As it is compared: without the differences that nobody means. */
export function fold(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(ACCENTS, "")
    .normalize("NFC");
}

function termsOfWord(word: string, count: (term: string) => void): void {
  let from = 0;
  for (const { 0: run, index } of word.matchAll(UNSPACED)) {
    if (index > from) count(wordTerm(word.slice(from, index)));
    termsOfRun([...run], count);
    from = index + run.length;
  }
  if (from < word.length) count(wordTerm(from === 0 ? word : word.slice(from)));
}

/** Letters too, so that a question of one letter finds something. */
function termsOfRun(letters: readonly string[], count: (term: string) => void): void {
  for (const [at, letter] of letters.entries()) {
    count(letter);
    const next = letters[at + 1];
    if (next !== undefined) count(letter + next);
  }
}

/** The plural of an English word counts as the word. */
function wordTerm(word: string): string {
  if (word.length > MAX_TERM_CHARS) return [...word].slice(0, MAX_TERM_CHARS).join("");
  return /^[a-z]{2,}[a-hj-rtv-z]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  `a about after all also always an and any are as at be because been before but by can could did do
   does for from had has have he her him his how i if in into is it its just me more most my never no
   not of on only or our out over she should so some than that the their them then there these they
   this to up us use user want was we were what when where which who why will with would you your
   please need let make get`
    .split(/\s+/)
    .map((word) => wordTerm(word)),
);

/** The terms that say what a text is about. */
export function tellingTerms(terms: ReadonlyMap<string, number>): string[] {
  return [...terms.keys()].filter((term) => !STOP_WORDS.has(term));
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
