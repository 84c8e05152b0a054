/**
 * Foreign text in a frame, for decisions; pure. Every row of it begins with a gutter, also where a long line
 * continues in the next row. Lines of our own never begin with a gutter, and foreign text never reaches the
 * first column, so it cannot forge a question, an answer or the end of its frame.
 */
import { exactText } from "./terminal.ts";
import { graphemesOf } from "./text-width.ts";

const GUTTER = "  │ ";
/** Begins a row that continues the line above it. */
const CONTINUED = "  ┆ ";
const MIN_ROW = 8;
const SHORT_LINE = 80;
const PLAIN = /^[\x20-\x7e]*$/;
const MARK = /^\p{M}$/u;

/**
 * Frames text in rows of at most `columns` characters; hidden characters are spelled out and nothing is left
 * out.
 */
export function frameText(text: string, columns: number, first: string = GUTTER): string[] {
  const room = Math.max(MIN_ROW, columns - GUTTER.length - 1);
  const rows = exactText(text)
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line) => cutLine(line, room).map((row, at) => (at === 0 ? GUTTER : CONTINUED) + row));
  const [head = ""] = rows;
  return [first + head.slice(GUTTER.length), ...rows.slice(1)].map((row) => row.trimEnd());
}

/** Keeps every character: unlike wrapping between words, no space is dropped. */
function cutLine(line: string, room: number): string[] {
  if (PLAIN.test(line)) {
    const rows: string[] = [];
    for (let at = 0; at < line.length || at === 0; at += rows.at(-1)?.length || room)
      rows.push(line.slice(at, plainEnd(line, at, room)));
    return rows;
  }
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const letter of graphemesOf(line)) {
    const more = mostColumns(letter);
    if (width + more > room && row !== "") {
      rows.push(row);
      row = "";
      width = 0;
    }
    row += letter;
    width += more;
  }
  return [...rows, row];
}

/** Breaks behind a space near the end of the row, if there is one. */
function plainEnd(line: string, from: number, room: number): number {
  const end = from + room;
  if (end >= line.length) return end;
  const near = end - Math.min(20, Math.floor(room / 2));
  const space = line.slice(near, end).lastIndexOf(" ");
  return space < 0 ? end : near + space + 1;
}

/**
 * The most columns that any terminal gives a character. A row that a terminal finds too wide would continue
 * in the first column, without a gutter.
 */
function mostColumns(letter: string): number {
  if (PLAIN.test(letter)) return letter.length;
  return [...letter].reduce((sum, char) => sum + (PLAIN.test(char) || MARK.test(char) ? 1 : 2), 0);
}

/** A name that can be part of our own sentence without looking like more than a name. */
const SIMPLE_NAME = /^[\p{L}\p{N}_](?:[ ._-]?[\p{L}\p{N}_]){0,31}$/u;
const TOOL_NAME = /^[\w.:-]{1,64}$/;

export function isSimpleName(text: string): boolean {
  return SIMPLE_NAME.test(text) && exactText(text) === text;
}

/** Requires one word, so that a name cannot describe what the tool would do. */
export function isToolName(text: string): boolean {
  return TOOL_NAME.test(text);
}

/** Length of a text, in brackets; empty for a short line. */
export function sizeOf(text: string): string {
  const lines = text.split("\n").length;
  const characters = [...text].length;
  if (lines === 1 && characters <= SHORT_LINE) return "";
  return ` (${count(lines, "line")}, ${count(characters, "character")})`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
