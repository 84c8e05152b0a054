/** Title for a session without one: the beginning of its first prompt. Pure. */
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
  // A last word that fills half of the title is cut rather than left out.
  return `${cut.slice(0, lastSpace > MAX_CHARS / 2 ? lastSpace : undefined)}…`;
}
