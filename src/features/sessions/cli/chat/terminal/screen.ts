/**
 * A terminal with scrolling text above a fixed footer. The scrolled text belongs to the terminal (it can be
 * scrolled and copied); only the rows of the unfinished line and of the footer are redrawn. The screen is an
 * output like any other, so that a turn printer can write to it.
 */

import type { Output } from "#surfaces/cli/kit/host.ts";
import { ownSequence } from "#surfaces/cli/kit/text/guarded-output.ts";
import { columnsOf, safeText } from "#surfaces/cli/kit/text/terminal.ts";
import { widthOf, wrapLine } from "#surfaces/cli/kit/text/text-width.ts";

export interface Footer {
  rows: string[];
  /** Cursor: a row of the footer, and the column in it. */
  cursor: { row: number; column: number };
}

const DEFAULT_ROWS = 24;
const CSI = ownSequence("[");
const START_OF_ROW = ownSequence("\r");
const NEXT_ROW = `${START_OF_ROW}\n`;

export class Screen implements Output {
  readonly isTTY = true;
  readonly #output: Output;
  readonly #footer: (columns: number) => Footer;
  /** The unfinished line. */
  #pending = "";
  #drawn: Drawn = { widths: [], cursorRow: 0 };
  #isClosed = false;

  /** `footer` is called at each drawing; its rows must fit into the given columns. */
  constructor(output: Output, footer: (columns: number) => Footer) {
    this.#output = output;
    this.#footer = footer;
  }

  /** One less than the terminal has: after a full row the cursor position differs between terminals. */
  get columns(): number {
    return Math.max(1, columnsOf(this.#output) - 1);
  }

  write(text: string): void {
    const rows: string[] = [];
    const lines = (this.#pending + safeText(text)).replaceAll("\t", "    ").split("\n");
    this.#pending = lines.pop() ?? "";
    for (const line of lines) rows.push(...wrapLine(line, this.columns));
    const unfinished = wrapLine(this.#pending, this.columns);
    this.#pending = unfinished.pop() ?? "";
    this.#draw([...rows, ...unfinished]);
  }

  /** Redraws the footer, as after a change of size or content. */
  refresh(): void {
    this.#draw([]);
  }

  clear(): void {
    this.#output.write(`${CSI}2J${CSI}H`);
    this.#drawn = { widths: [], cursorRow: 0 };
    this.refresh();
  }

  /** Removes the footer and leaves the cursor on a line of its own. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const rest = this.#pending === "" ? "" : this.#pending + NEXT_ROW;
    this.#output.write(erase(this.#drawn, this.columns + 1) + rest);
  }

  #draw(above: readonly string[]): void {
    if (this.#isClosed) return;
    const footer = fitHeight(this.#footer(this.columns), (this.#output.rows ?? DEFAULT_ROWS) - 2);
    const head = this.#pending === "" ? [] : [this.#pending];
    const live = [...head, ...footer.rows];
    const cursorRow = head.length + footer.cursor.row;
    const text = [
      erase(this.#drawn, this.columns + 1),
      ...above.map((row) => row + NEXT_ROW),
      live.join(NEXT_ROW),
      up(live.length - 1 - cursorRow),
      START_OF_ROW + right(footer.cursor.column),
    ];
    this.#drawn = { widths: live.map(widthOf), cursorRow };
    this.#output.write(text.join(""));
  }
}

interface Drawn {
  widths: number[];
  cursorRow: number;
}

/**
 * Moves to the first drawn row and erases everything below. A terminal that has become narrower since has
 * wrapped those rows.
 */
export function erase({ widths, cursorRow }: Drawn, columns: number): string {
  const above = widths.slice(0, cursorRow).map((width) => Math.max(1, Math.ceil(width / columns)));
  return `${up(above.reduce((sum, rows) => sum + rows, 0))}${START_OF_ROW}${CSI}J`;
}

/** Keeps the rows nearest to the cursor when the terminal has too few. */
export function fitHeight({ rows, cursor }: Footer, height: number): Footer {
  const room = Math.max(1, height);
  if (rows.length <= room) return { rows, cursor };
  const from = Math.min(Math.max(0, cursor.row - room + 1), rows.length - room);
  return {
    rows: rows.slice(from, from + room),
    cursor: { ...cursor, row: cursor.row - from },
  };
}

const up = (rows: number): string => (rows > 0 ? `${CSI}${rows}A` : "");
const right = (columns: number): string => (columns > 0 ? `${CSI}${columns}C` : "");
