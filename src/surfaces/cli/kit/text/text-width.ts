/**
 * Width of text on a terminal, shortening and wrapping; pure. The only escape sequences it knows are our own
 * colours: foreign text has lost its own before.
 */
import stringWidth from "string-width";
import { OWN_COLOUR, ownSequence } from "./guarded-output.ts";

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const COLOUR = OWN_COLOUR;
const RESET = ownSequence("[0m");

/** Text with one grapheme per character, because segmenting is slow. */
const PLAIN = /^[\x20-\x7e]*$/;

export function graphemesOf(text: string): string[] {
  return PLAIN.test(text)
    ? [...text]
    : Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

/** Columns that the text takes; our own colours take none. */
export function widthOf(text: string): number {
  return plainWidth(text.replaceAll(COLOUR, ""));
}

/** Foreign escape sequences are shown as text, so they are counted as text. */
function plainWidth(text: string): number {
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/**
 * Returns as much of the text as fits, with an ellipsis when something is missing. The text has no colours.
 */
export function shortenTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const letter of graphemesOf(text)) {
    width += plainWidth(letter);
    if (width > columns - 1) break;
    kept += letter;
  }
  return columns < 1 ? "" : `${kept}…`;
}

interface Row {
  text: string;
  width: number;
  /** Position behind the last space, at which the row can be broken. */
  breakAt: { length: number; width: number; colours: string } | undefined;
}

/**
 * Wraps a line into rows of at most `columns` (and a space), between words where possible. Each row closes
 * its open colours and the next opens them again, so that rows can be drawn one by one. Appending text to the
 * line changes only the last row.
 */
export function wrapLine(line: string, columns: number): string[] {
  const limit = Math.max(1, columns);
  if (widthOf(line) <= limit) return [line];
  const rows: string[] = [];
  const indent = indentOf(line, limit);
  let colours = "";
  let row: Row = { text: "", width: 0, breakAt: undefined };
  for (const piece of piecesOf(line)) {
    if (isColour(piece)) {
      colours = withColour(colours, piece);
      row.text += piece;
      continue;
    }
    const width = plainWidth(piece);
    // The space at which a row is broken may be beyond its edge; further ones are dropped.
    if (piece === " " && row.width > limit) continue;
    if (piece !== " " && row.width + width > limit) {
      const { done, rest } = breakRow(row, colours, indent);
      rows.push(done);
      row = rest;
    }
    row.text += piece;
    row.width += width;
    if (piece === " " && row.width > indent.length)
      row.breakAt = { length: row.text.length, width: row.width, colours };
  }
  return [...rows, row.text];
}

/** Continued rows are indented like the first one. */
function indentOf(line: string, limit: number): string {
  const spaces = /^ */.exec(line.replaceAll(COLOUR, ""))?.[0].length ?? 0;
  return " ".repeat(Math.min(spaces, Math.floor(limit / 2)));
}

function breakRow(
  { text, width, breakAt }: Row,
  colours: string,
  indent: string,
): { done: string; rest: Row } {
  const at = breakAt ?? { length: text.length, width, colours };
  const done = text.slice(0, at.length).trimEnd();
  return {
    done: at.colours === "" ? done : done + RESET,
    rest: {
      text: indent + at.colours + text.slice(at.length),
      width: indent.length + width - at.width,
      breakAt: undefined,
    },
  };
}

function piecesOf(line: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const match of line.matchAll(COLOUR)) {
    pieces.push(...graphemesOf(line.slice(from, match.index)), match[0]);
    from = match.index + match[0].length;
  }
  return [...pieces, ...graphemesOf(line.slice(from))];
}

function isColour(piece: string): boolean {
  return piece.length > 1 && piece.startsWith(ownSequence("["));
}

/** Code that ends each kind of colour, and the codes that begin it. */
const ENDS: Record<string, RegExp> = {
  "22": /^[12]$/,
  "39": /^3[0-7]$/,
  "0": /^\d+$/,
};

function withColour(open: string, piece: string): string {
  const code = piece.slice(ownSequence("[").length, -1) || "0";
  const ended = ENDS[code];
  if (!ended) return open + piece;
  return Array.from(open.matchAll(COLOUR))
    .filter(([, begun = ""]) => !ended.test(begun))
    .map(([whole]) => whole)
    .join("");
}
