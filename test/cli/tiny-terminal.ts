/** A terminal that interprets the screen's output, and shows what a person would see. */
import { graphemesOf, widthOf } from "#surfaces/cli/kit/text/text-width.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is all about these.
const PIECE = /\u001b\[(\??[\d;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+|\u001b/g;

export class TinyTerminal {
  columns: number;
  rows: number;
  /** All rows ever written, the scrolled ones first; each is the characters of its columns. */
  readonly #cells: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [piece, given, letter] of text.matchAll(PIECE)) {
      if (letter !== undefined) this.#command(letter, given ?? "");
      else if (piece === "\r") this.#column = 0;
      else if (piece === "\n") {
        // A terminal's driver writes it so.
        this.#column = 0;
        this.#down();
      } else if (piece === "\u001b") throw new Error("an escape sequence that nobody knows");
      else for (const grapheme of graphemesOf(piece)) this.#put(grapheme);
    }
  }

  /** Visible and scrolled rows, without spaces at the ends. */
  get lines(): string[] {
    return this.#cells.map((cells) => cells.join("").trimEnd());
  }

  get text(): string {
    return this.lines.join("\n").trimEnd();
  }

  get cursor(): { row: number; column: number } {
    return { row: this.#row, column: this.#column };
  }

  #command(letter: string, given: string): void {
    const count = Number(given || "1");
    // Rows above the topmost visible one cannot be reached.
    const top = Math.max(0, this.#cells.length - this.rows);
    if (letter === "A") this.#row = Math.max(top, this.#row - count);
    else if (letter === "C") this.#column = Math.min(this.columns - 1, this.#column + count);
    else if (letter === "H") {
      this.#row = top;
      this.#column = 0;
    } else if (letter === "J") this.#erase(given, top);
    else if (!"mhl".includes(letter)) throw new Error(`unknown: CSI ${given}${letter}`);
  }

  #erase(given: string, top: number): void {
    if (given === "2") for (const cells of this.#cells.slice(top)) cells.length = 0;
    else {
      this.#cells.length = this.#row + 1;
      this.#line().length = Math.min(this.#line().length, this.#column);
    }
  }

  #put(grapheme: string): void {
    const width = widthOf(grapheme);
    if (this.#column + width > this.columns) {
      this.#column = 0;
      this.#down();
    }
    const cells = this.#line();
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column] = grapheme;
    if (width === 2) cells[this.#column + 1] = "";
    this.#column += width;
  }

  #down(): void {
    this.#row += 1;
    if (this.#cells.length === this.#row) this.#cells.push([]);
  }

  #line(): string[] {
    return this.#cells[this.#row] ?? [];
  }
}
