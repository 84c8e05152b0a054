import type { MatchRanges } from "#features/search/contract.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";

export interface Part {
  text: string;
  isMatch: boolean;
}

/** Splits the text at the matches. Ranges that overlap or exceed the text are ignored. Pure. */
export function partsOf(text: string, matches: MatchRanges): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const [from, to] of matches) {
    const start = Math.max(from, at);
    const end = Math.min(to, text.length);
    if (start >= end) continue;
    if (start > at) parts.push({ text: text.slice(at, start), isMatch: false });
    parts.push({ text: text.slice(start, end), isMatch: true });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isMatch: false });
  return parts;
}

/** Renders matches as text, never as markup. */
export function Highlight({ text, matches }: { text: string; matches: MatchRanges }) {
  return partsOf(text, matches).map(({ text: words, isMatch }, at) =>
    isMatch ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no id, only a position
      <mark key={at} className="rounded-sm bg-warn-soft font-semibold text-ink">
        {revealLine(words)}
      </mark>
    ) : (
      revealLine(words)
    ),
  );
}
