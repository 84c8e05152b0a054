/**
 * Reads a range of lines from a file of any size, in bounded memory: the file is read through once,
 * and lines outside of the range, or beyond a bearable length, are not kept.
 */
import type { FileHandle } from "node:fs/promises";
import { endOfCharacter } from "../output/output-buffer.ts";

const CHUNK_BYTES = 65_536;
const MAX_LINE_CHARACTERS = 2000;
const MAX_LINE_BYTES = MAX_LINE_CHARACTERS * 4;
/** Limit of all lines together; the rest is another range. */
const MAX_TOTAL_CHARACTERS = 100_000;
/** Lines this far into a file are not looked for. */
const MAX_SCANNED_BYTES = 512 * 1024 ** 2;

export interface LineRange {
  lines: string[];
  /** Reason of the end: the file's own end, more lines, or too much to read. */
  end: "file" | "more" | "too_far";
  /** Number of lines in the file, if all of it was read. */
  lineCount: number | null;
}

export async function readLines(
  file: FileHandle,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<LineRange> {
  const collector = new LineCollector(offset, limit);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; position < MAX_SCANNED_BYTES && !signal.aborted; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return collector.finish();
    position += bytesRead;
    if (collector.take(chunk.subarray(0, bytesRead))) {
      return { lines: collector.lines, end: "more", lineCount: null };
    }
  }
  return { lines: collector.lines, end: "too_far", lineCount: null };
}

class LineCollector {
  readonly lines: string[] = [];
  readonly #first: number;
  readonly #limit: number;
  #number = 1;
  #total = 0;
  /** Beginning of the present line, copied because its chunk is overwritten. */
  #pieces: Buffer[] = [];
  #kept = 0;
  #length = 0;

  constructor(first: number, limit: number) {
    this.#first = first;
    this.#limit = limit;
  }

  /** True when there is room for no further line, and there is one. */
  take(chunk: Buffer): boolean {
    let start = 0;
    while (start < chunk.length) {
      if (this.#isFull()) return true;
      const newline = chunk.indexOf(0x0a, start);
      this.#add(chunk.subarray(start, newline < 0 ? chunk.length : newline));
      if (newline < 0) return false;
      this.#endLine();
      start = newline + 1;
    }
    return false;
  }

  finish(): LineRange {
    if (this.#length > 0) this.#endLine();
    return { lines: this.lines, end: "file", lineCount: this.#number - 1 };
  }

  #isFull(): boolean {
    return this.lines.length >= this.#limit || this.#total >= MAX_TOTAL_CHARACTERS;
  }

  #add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#number < this.#first || this.#kept >= MAX_LINE_BYTES) return;
    const kept = Buffer.from(piece.subarray(0, MAX_LINE_BYTES - this.#kept));
    this.#kept += kept.length;
    this.#pieces.push(kept);
  }

  #endLine(): void {
    if (this.#number >= this.#first) {
      const line = cutLine(Buffer.concat(this.#pieces), this.#length);
      this.lines.push(line);
      this.#total += line.length;
    }
    this.#number++;
    this.#pieces = [];
    this.#kept = 0;
    this.#length = 0;
  }
}

function cutLine(bytes: Buffer, length: number): string {
  const isCut = length > bytes.length;
  const text = bytes.toString("utf8", 0, isCut ? endOfCharacter(bytes) : bytes.length);
  const line = text.endsWith("\r") && !isCut ? text.slice(0, -1) : text;
  if (!isCut && line.length <= MAX_LINE_CHARACTERS) return line;
  return `${line.slice(0, MAX_LINE_CHARACTERS).toWellFormed()} [… cut: the line has ${length} bytes]`;
}
