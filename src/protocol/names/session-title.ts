/** A name for a session that was given none: how its first prompt begins. Pure. */
const MAX_CHARS = 60;

export function titleFrom(prompt: string): string | undefined {
  const line = prompt
    .split(/[\n\r\v\f\u0085\u2028\u2029]/)
    .map((text) => text.trim())
    .find((text) => text !== "");
  if (line === undefined) return undefined;
  const chars = [...line];
  if (chars.length <= MAX_CHARS) return line;
  const cut = chars.slice(0, MAX_CHARS).join("");
  const lastSpace = cut.lastIndexOf(" ");
  // A word that fills half of it is cut rather than left out.
  return `${cut.slice(0, lastSpace > MAX_CHARS / 2 ? lastSpace : undefined)}…`;
}
