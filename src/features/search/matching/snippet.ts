/**
 * Snippets of hits: plain text, and the positions of the words in it. The text is unchanged except for
 * line breaks, which become spaces. Pure.
 */
import { fold, termOf, wordSegments } from "#base/text/search-terms.ts";
import type { MatchRanges } from "../contract.ts";
import type { Term } from "./words.ts";

const SNIPPET_CHARS = 240;
/** Length of the text before the first match. */
const LEAD_CHARS = 60;
/** Maximum of characters to search in a text. */
const MAX_LOOKED_AT = 40_000;
const MAX_RANGES = 50;
const GAP = "…";

export interface Marked {
  text: string;
  matches: MatchRanges;
}

/** Marks the matches in the whole of a short text. */
export function markWhole(text: string, terms: readonly Term[]): Marked {
  return { text, matches: rangesIn(text, terms).map(({ from, upTo }) => [from, upTo]) };
}

/** Cuts out the part of a text with the most terms. */
export function snippetOf(whole: string, terms: readonly Term[]): Marked {
  const text = whole.replaceAll(/[\n\r\t\v\f\u0085\u2028\u2029]/g, " ");
  const ranges = rangesIn(text, terms);
  const start = startOf(ranges, text.length);
  const from = start === 0 ? 0 : wordStart(text, start);
  const end = Math.min(text.length, from + SNIPPET_CHARS);
  const upTo = isInsideLetter(text, end) ? end - 1 : end;
  const part = text.slice(from, upTo);
  const before = from > 0 ? GAP : "";
  const after = upTo < text.length ? GAP : "";
  const shift = before.length - from;
  const inside = ranges.filter((range) => range.from >= from && range.upTo <= upTo);
  return {
    text: `${before}${part}${after}`,
    matches: inside.map((range) => [range.from + shift, range.upTo + shift]),
  };
}

interface Range {
  from: number;
  upTo: number;
  /** Index of the term. */
  term: number;
}

/** Finds the terms in a text. Words are compared as in the index, and marked as in the text. */
function rangesIn(text: string, terms: readonly Term[]): Range[] {
  const found: Range[] = [];
  for (const { text: piece, index, unspaced } of wordSegments(text.slice(0, MAX_LOOKED_AT))) {
    if (found.length >= MAX_RANGES) break;
    const folded = fold(piece);
    if (unspaced) found.push(...rangesInRun(folded, piece.length, index, terms));
    else {
      const word = termOf(folded);
      const term = terms.findIndex((one) => hasWord(one, word, folded));
      if (term >= 0) found.push({ from: index, upTo: index + piece.length, term });
    }
  }
  return found;
}

function hasWord({ words, isBeginning }: Term, word: string, folded: string): boolean {
  if (words.includes(word)) return true;
  return (
    isBeginning && (folded.startsWith(words.at(-1) ?? "") || word.startsWith(words.at(-1) ?? ""))
  );
}

/** Finds the terms in a run of letters without spaces, where a term may begin anywhere. */
function rangesInRun(
  folded: string,
  length: number,
  index: number,
  terms: readonly Term[],
): Range[] {
  const found: Range[] = [];
  for (const [term, { words }] of terms.entries()) {
    const letters = words.join("");
    let at = folded.indexOf(letters);
    while (at >= 0 && letters !== "" && found.length < MAX_RANGES) {
      // Folding has changed the length, so no position inside the run is known.
      if (folded.length !== length) return [{ from: index, upTo: index + length, term }];
      found.push({ from: index + at, upTo: index + at + letters.length, term });
      at = folded.indexOf(letters, at + letters.length);
    }
  }
  return withoutOverlaps(found);
}

/** Sorts ranges and drops overlapping ones. */
function withoutOverlaps(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a.from - b.from || b.upTo - a.upTo);
  const kept: Range[] = [];
  for (const range of sorted) if (range.from >= (kept.at(-1)?.upTo ?? 0)) kept.push(range);
  return kept;
}

/** Returns the start of the stretch with the most distinct terms. */
function startOf(ranges: readonly Range[], length: number): number {
  if (length <= SNIPPET_CHARS) return 0;
  let best = { at: 0, terms: 0 };
  for (const { from } of ranges) {
    const near = ranges.filter(
      (range) => range.from >= from && range.upTo <= from + SNIPPET_CHARS - LEAD_CHARS,
    );
    const terms = new Set(near.map(({ term }) => term)).size;
    if (terms > best.terms) best = { at: from, terms };
  }
  return Math.max(0, Math.min(best.at - LEAD_CHARS, length - SNIPPET_CHARS));
}

/** Returns the start of the next word, if it is near. A text is never cut inside a character. */
function wordStart(text: string, from: number): number {
  const space = text.indexOf(" ", from);
  if (space >= 0 && space - from < LEAD_CHARS / 2) return space + 1;
  return isInsideLetter(text, from) ? from + 1 : from;
}

function isInsideLetter(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
