/**
 * Output of any length in a fixed amount of memory. The beginning and the end are kept to be shown;
 * when there is more, all of it goes to a file as it comes. `write` waits for the file, so a
 * producer that is read through it cannot outrun the disk.
 */
import type { FileHandle } from "node:fs/promises";

const HEAD_BYTES = 30_000;
const TAIL_BYTES = 30_000;
const SPILL_BYTES = 64 * 1024 ** 2;
/** Cuts are moved this far to fall between two lines, so that no word (or key) is shown in half. */
const LINE_SEARCH_BYTES = 1024;

export interface Spill {
  readonly file: FileHandle;
  /** Path for the agent. */
  readonly path: string;
}

export interface OutputBufferOptions {
  headBytes?: number;
  tailBytes?: number;
  /** Limit of the file; bytes beyond it are only counted. */
  spillBytes?: number;
  /** Makes the file, when it is needed. Null when there is none, and the middle is lost. */
  openSpill?: () => Promise<Spill | null>;
}

export interface BufferedOutput {
  text: string;
  bytes: number;
  spilled: { path: string; bytes: number } | null;
}

export class OutputBuffer {
  readonly #head: Buffer;
  readonly #tail: TailBuffer;
  readonly #spillBytes: number;
  readonly #openSpill: () => Promise<Spill | null>;
  #headUsed = 0;
  #bytes = 0;
  #spill: Spill | null | undefined;
  #spilledBytes = 0;
  #spillFull = false;

  constructor(options: OutputBufferOptions = {}) {
    this.#head = Buffer.alloc(options.headBytes ?? HEAD_BYTES);
    this.#tail = new TailBuffer(options.tailBytes ?? TAIL_BYTES);
    this.#spillBytes = options.spillBytes ?? SPILL_BYTES;
    this.#openSpill = options.openSpill ?? (async () => null);
  }

  async write(chunk: Buffer): Promise<void> {
    const willOverflow = this.#bytes + chunk.length > this.#head.length + this.#tail.capacity;
    if (willOverflow && this.#spill === undefined) await this.#beginSpill();
    this.#bytes += chunk.length;
    const copied = chunk.copy(this.#head, this.#headUsed);
    this.#headUsed += copied;
    this.#tail.push(copied === 0 ? chunk : chunk.subarray(copied));
    if (this.#spill) await this.#spillOut(chunk);
  }

  async finish(): Promise<BufferedOutput> {
    await this.#closeSpill();
    const path = this.#spill?.path;
    const spilled = path === undefined ? null : { path, bytes: this.#spilledBytes };
    const head = this.#head.subarray(0, this.#headUsed);
    const tail = this.#tail.contents();
    if (head.length + tail.length === this.#bytes) {
      return { text: Buffer.concat([head, tail]).toString(), bytes: this.#bytes, spilled };
    }
    const shownHead = head.subarray(0, endOfLine(head));
    const shownTail = tail.subarray(startOfLine(tail));
    const left = this.#bytes - shownHead.length - shownTail.length;
    const text = `${shownHead}\n[… ${left} of ${this.#bytes} bytes left out${this.#where()} …]\n${shownTail}`;
    return { text, bytes: this.#bytes, spilled };
  }

  #where(): string {
    if (!this.#spill) return "";
    const part = this.#spilledBytes < this.#bytes ? `the first ${this.#spilledBytes} bytes` : "all";
    return `; ${part} of it can be read in ${this.#spill.path}`;
  }

  /** Everything so far is still in memory when this is called. */
  async #beginSpill(): Promise<void> {
    this.#spill = await this.#openSpill().catch(() => null);
    await this.#spillOut(this.#head.subarray(0, this.#headUsed));
    await this.#spillOut(this.#tail.contents());
  }

  async #spillOut(chunk: Buffer): Promise<void> {
    const piece = chunk.subarray(0, Math.max(0, this.#spillBytes - this.#spilledBytes));
    if (!this.#spill || this.#spillFull || piece.length === 0) return;
    try {
      await this.#spill.file.writeFile(piece);
      this.#spilledBytes += piece.length;
    } catch {
      // The disk is full, or the file too large for the machine: keeps what could be kept.
      this.#spillFull = true;
    }
  }

  async #closeSpill(): Promise<void> {
    await this.#spill?.file.close().catch(() => {});
  }
}

/** Keeps the last bytes of a stream. */
export class TailBuffer {
  readonly capacity: number;
  readonly #ring: Buffer;
  #used = 0;
  #dropped = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#ring = Buffer.alloc(capacity);
  }

  push(chunk: Buffer): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - this.capacity));
    const overflow = Math.max(0, this.#used + kept.length - this.capacity);
    if (overflow > 0) this.#ring.copyWithin(0, overflow, this.#used);
    this.#used -= overflow;
    kept.copy(this.#ring, this.#used);
    this.#used += kept.length;
    this.#dropped += overflow + chunk.length - kept.length;
  }

  contents(): Buffer {
    return this.#ring.subarray(0, this.#used);
  }

  /** Returns the content and forgets it. An incomplete last character is left for later. */
  take(isComplete: boolean): { text: string; droppedBytes: number } {
    const bytes = this.contents();
    const from = this.#dropped > 0 ? startOfLine(bytes) : 0;
    const end = isComplete ? bytes.length : endOfCharacter(bytes);
    const taken = { text: bytes.toString("utf8", from, end), droppedBytes: this.#dropped + from };
    this.#ring.copyWithin(0, end, this.#used);
    this.#used -= end;
    this.#dropped = 0;
    return taken;
  }
}

/** Index to cut at so that the last character is whole. */
export function endOfCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return lengthOfCharacter(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function lengthOfCharacter(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  if (firstByte >= 0xe0) return 3;
  return firstByte >= 0xc0 ? 2 : 1;
}

function endOfLine(bytes: Buffer): number {
  const newline = bytes.lastIndexOf(0x0a);
  const isNear = newline >= 0 && newline >= bytes.length - LINE_SEARCH_BYTES;
  return isNear ? newline + 1 : endOfCharacter(bytes);
}

function startOfLine(bytes: Buffer): number {
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0 && newline < LINE_SEARCH_BYTES) return newline + 1;
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}
