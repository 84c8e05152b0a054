/**
 * Text that somebody decides about must look like what it is. Characters that are not seen, or that
 * change how others are seen (controls, text direction, zero width, look-alike spaces, tags), are
 * cut out and named. Pure.
 */
export type Piece = { text: string } | { name: string };

// Everything that draws nothing or moves what is around it, except line feed, tab and space.
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
const PLAIN = new Set(["\n", "\t"]);

export function reveal(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [char] = match;
    if (PLAIN.has(char)) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push({ name: nameOf(char) });
    from = match.index + char.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** The same for one line of plain text. */
export function revealLine(text: string): string {
  return text.replace(HIDDEN, (char) => (PLAIN.has(char) ? char : `⟨${nameOf(char)}⟩`));
}

const NAMES: Record<string, string> = {
  "\0": "NUL",
  "\b": "BS",
  "\r": "CR",
  "\u001b": "ESC",
  "\u007f": "DEL",
};

function nameOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return NAMES[char] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
