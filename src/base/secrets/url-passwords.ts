/**
 * Redacts passwords in URLs, such as `postgres://user:password@host`. Takes one pass over any text.
 */

const SLASHES = "://";
const WORD = /\w/;

/** Replaces the part between the user name and the last `@` of a URL. */
export function withoutUrlPasswords(text: string, replacement: string): string {
  if (!text.includes(SLASHES) || !text.includes("@")) return text;
  return text.replace(/\S+/g, (word) => redactWord(word, replacement));
}

/** `word` has no spaces, so everything after its first URL with a password is redacted with it. */
function redactWord(word: string, replacement: string): string {
  const lastAt = word.lastIndexOf("@");
  if (lastAt < 0) return word;
  for (let at = word.indexOf(SLASHES); at >= 0; at = word.indexOf(SLASHES, at + 1)) {
    if (at === 0 || !WORD.test(word[at - 1] as string)) continue;
    const colon = endOfUser(word, at + SLASHES.length);
    if (word[colon] === ":" && colon < lastAt)
      return `${word.slice(0, colon + 1)}${replacement}${word.slice(lastAt)}`;
  }
  return word;
}

/** Index after the user name. */
function endOfUser(word: string, start: number): number {
  let at = start;
  while (at < word.length && !":/@".includes(word[at] as string)) at += 1;
  return at;
}
