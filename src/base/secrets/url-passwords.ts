/** Passwords in addresses, such as `postgres://user:password@host`. One pass, whatever the text is. */

const SLASHES = "://";
const WORD = /\w/;

/** Replaces what stands between the user's name and the last `@` of an address. */
export function withoutUrlPasswords(text: string, replacement: string): string {
  if (!text.includes(SLASHES) || !text.includes("@")) return text;
  return text.replace(/\S+/g, (word) => withoutPassword(word, replacement));
}

/** `word` has no spaces, so what follows the first address in it that has a password goes with that. */
function withoutPassword(word: string, replacement: string): string {
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

/** The place after the user's name. */
function endOfUser(word: string, start: number): number {
  let at = start;
  while (at < word.length && !":/@".includes(word[at] as string)) at += 1;
  return at;
}
