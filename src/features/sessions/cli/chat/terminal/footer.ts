/** Footer of a conversation on a terminal: queue, status and input; pure. */
import { type Style, safeLine, safeText } from "#surfaces/cli/kit/text/terminal.ts";
import { graphemesOf, shortenTo, widthOf } from "#surfaces/cli/kit/text/text-width.ts";
import type { EditorLine } from "./line-editor.ts";
import type { Footer } from "./screen.ts";

export interface FooterFacts {
  waiting: readonly string[];
  status: string;
  /** Approval that the input answers. */
  asked?: string | undefined;
  label: string;
  line: EditorLine;
  columns: number;
  style: Style;
}

const QUEUE_ROWS = 3;
const INPUT_ROWS = 8;

export function drawFooter(facts: FooterFacts): Footer {
  const { waiting, status, asked, label, line, columns, style } = facts;
  const queue = waiting
    .slice(0, QUEUE_ROWS)
    .map((text) => style.dim(shortenTo(`⋯ ${safeLine(text)}`, columns)));
  const more =
    waiting.length > QUEUE_ROWS ? [style.dim(`⋯ ${waiting.length - QUEUE_ROWS} more`)] : [];
  const answered = asked === undefined ? [] : [style.yellow(shortenTo(`? ${asked}`, columns))];
  const head = [...queue, ...more, style.dim(status), ...answered];
  const typed = typedRows(line, label, columns);
  const from = Math.max(0, typed.cursor.row - INPUT_ROWS + 1);
  const rows = typed.rows.slice(from, from + INPUT_ROWS);
  return {
    rows: [...head, ...rows],
    cursor: { row: head.length + typed.cursor.row - from, column: typed.cursor.column },
  };
}

/** Wraps the typed text into rows behind its label, and places the cursor. */
function typedRows({ text, cursor }: EditorLine, label: string, columns: number): Footer {
  const mark = shortenTo(`${label} `, Math.max(2, columns - 4));
  const indent = " ".repeat(widthOf(mark));
  const rows: string[] = [];
  let row = mark;
  let place = { row: 0, column: widthOf(mark) };
  let at = 0;
  const endRow = () => {
    rows.push(row);
    row = indent;
  };
  for (const letter of graphemesOf(text)) {
    const isBreak = letter === "\n";
    const shown = safeText(letter);
    if (!isBreak && widthOf(row) + widthOf(shown) > columns && row !== indent) endRow();
    if (at === cursor) place = { row: rows.length, column: widthOf(row) };
    at += letter.length;
    if (isBreak) endRow();
    else row += shown;
  }
  if (at === cursor) {
    if (widthOf(row) >= columns) endRow();
    place = { row: rows.length, column: widthOf(row) };
  }
  return { rows: [...rows, row], cursor: place };
}
