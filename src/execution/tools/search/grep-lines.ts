/** Parses the output of grep and ripgrep (`path NUL number : text`), in bounded memory. */
import { endOfCharacter } from "../output/output-buffer.ts";

const MAX_LINE_BYTES = 8192;
const MAX_TEXT_CHARACTERS = 500;

export type FoundLine = { path: string; number: number; text: string; isMatch: boolean } | "gap";

export class GrepLines {
  readonly found: FoundLine[] = [];
  readonly #limit: number;
  readonly #isWanted: (path: string) => boolean;
  #pieces: Buffer[] = [];
  #kept = 0;

  constructor(limit: number, isWanted: (path: string) => boolean) {
    this.#limit = limit;
    this.#isWanted = isWanted;
  }

  get isFull(): boolean {
    return this.found.length >= this.#limit;
  }

  take(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length && !this.isFull) {
      const newline = chunk.indexOf(0x0a, start);
      this.#add(chunk.subarray(start, newline < 0 ? chunk.length : newline));
      if (newline < 0) return;
      this.#endLine();
      start = newline + 1;
    }
  }

  /** A match may be a line of gigabytes: its beginning is enough. */
  #add(piece: Buffer): void {
    if (this.#kept >= MAX_LINE_BYTES) return;
    const kept = Buffer.from(piece.subarray(0, MAX_LINE_BYTES - this.#kept));
    this.#kept += kept.length;
    this.#pieces.push(kept);
  }

  #endLine(): void {
    const bytes = Buffer.concat(this.#pieces);
    const line = parseLine(bytes);
    // A name may have a newline in it: then the line has not ended yet.
    if (line === null && !bytes.includes(0)) {
      this.#add(Buffer.from("\n"));
      return;
    }
    this.#pieces = [];
    this.#kept = 0;
    if (line === null) return;
    if (line === "gap") {
      if (this.found.length > 0 && this.found.at(-1) !== "gap") this.found.push(line);
    } else if (this.#isWanted(line.path)) this.found.push(line);
  }
}

function parseLine(bytes: Buffer): FoundLine | null {
  if (bytes.toString() === "--") return "gap";
  const end = bytes.indexOf(0);
  if (end < 0) return null;
  const path = bytes.toString("utf8", 0, end).replace(/^(?:\.\/)+/, "");
  const rest = bytes.subarray(end + 1);
  const parsed = /^(\d+)([:-])(.*)$/s.exec(rest.toString("utf8", 0, endOfCharacter(rest)));
  if (!parsed) return null;
  const [, number = "", separator, text = ""] = parsed;
  return { path, number: Number(number), text: cut(text), isMatch: separator === ":" };
}

function cut(text: string): string {
  const line = text.replace(/\r$/, "");
  if (line.length <= MAX_TEXT_CHARACTERS) return line;
  return `${line.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()} […]`;
}
