/** Finds copies of words that were taken out, wherever somebody quoted them; pure. */

/** Shorter words stand in too many texts to tell a copy by. */
const MIN_CHARS = 4;
/** Whoever quotes a long text may have cut it: its beginning or its end tells. */
const TELLING_CHARS = 80;

/** The strings in a value, at any depth. */
export function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(wordsIn);
}

export function quotesAny(text: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const told = word.trim();
    if (told.length < MIN_CHARS) return false;
    return [told.slice(0, TELLING_CHARS), told.slice(-TELLING_CHARS)].some((part) =>
      text.includes(part),
    );
  });
}

/** The value with `instead` for every string that quotes one of the words. */
export function withoutWords(value: unknown, words: readonly string[], instead: string): unknown {
  if (typeof value === "string") return quotesAny(value, words) ? instead : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutWords(item, words, instead));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutWords(item, words, instead)]),
  );
}
