/** Names invisible characters in one line of plain text. */
import { reveal } from "#base/text/visible-text.ts";

export function revealLine(text: string): string {
  return reveal(text)
    .map((piece) => ("text" in piece ? piece.text : `⟨${piece.name}⟩`))
    .join("");
}
