/** Finds copies of removed text wherever somebody quoted it. Pure. */

/** Shorter texts occur in too many places to identify a copy. */
const MIN_CHARS = 4;
/** A quote of a long text may be cut, so its beginning or its end is enough. */
const MATCHED_CHARS = 80;

/** The strings in a value, at any depth. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

export function quotesAny(text: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const quoted = word.trim();
    if (quoted.length < MIN_CHARS) return false;
    return [quoted.slice(0, MATCHED_CHARS), quoted.slice(-MATCHED_CHARS)].some((part) =>
      text.includes(part),
    );
  });
}

/** Replaces every string in the value that quotes one of the texts with `instead`. */
export function replaceQuotes(value: unknown, words: readonly string[], instead: string): unknown {
  if (typeof value === "string") return quotesAny(value, words) ? instead : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => replaceQuotes(item, words, instead));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceQuotes(item, words, instead)]),
  );
}
