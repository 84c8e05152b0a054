/** Splits a batch of the journal into frames that the server accepts. */
import { countValues } from "#base/text/json-bounds.ts";
import { JOURNAL_PIECE, MAX_PLAIN_FRAME_BYTES, RUNNER_FRAME_BOUNDS } from "#protocol/bounds.ts";
import type { JournalItem, Settlement } from "#protocol/events.ts";
import type { ExecutorBinding, Park } from "#protocol/frames.ts";
import { cutBySize, roughSize } from "#protocol/rough-size.ts";

/** Extras of a batch: at most one of each, and after `settle` or `park` nothing follows. */
export interface BatchExtra {
  bind?: ExecutorBinding;
  settle?: Settlement;
  park?: Park;
}

export interface JournalBatch extends BatchExtra {
  firstOrdinal: number;
  items: JournalItem[];
}

/** Leaves room for the rest of the frame. */
const MAX_BATCH_BYTES = MAX_PLAIN_FRAME_BYTES - 64 * 1024;
/** A character takes six bytes at most, so shorter batches need not be measured. */
const SURELY_FITS_CHARS = Math.floor(MAX_BATCH_BYTES / 6);
const MAX_RESULT_CHARS = 600_000;
/** Below the limit of a frame, because the batch around an item adds some. */
const MAX_BATCH_DEPTH = RUNNER_FRAME_BOUNDS.depth - 4;
const MAX_BATCH_VALUES = RUNNER_FRAME_BOUNDS.values - 1_000;

/**
 * Returns one frame if the server can write the batch in one transaction; else one frame per piece,
 * and the end of the turn in a last frame of its own. So a refused frame was not written at all. A
 * result that is too long by itself is cut, since the transcript has all of it.
 */
export function framesOf(batch: JournalBatch, roughChars: number): JournalBatch[] {
  const chars = roughChars + (batch.settle?.result?.length ?? 0);
  const isSmall = batch.items.length <= JOURNAL_PIECE.items && chars <= JOURNAL_PIECE.chars;
  const pieces = isSmall ? [batch.items] : cutBySize(batch.items, JOURNAL_PIECE);
  if (pieces.length <= 1 && isLeanList(batch.items) && fitsFrame(batch, chars)) return [batch];
  const { firstOrdinal, items, settle, ...extra } = batch;
  const frames: JournalBatch[] = [];
  let next = firstOrdinal;
  for (const piece of pieces.flatMap(inFrames)) {
    frames.push({ firstOrdinal: next, items: piece });
    next += piece.length;
  }
  const result = settle?.result?.slice(0, MAX_RESULT_CHARS);
  const end = settle ? { settle: { ...settle, ...(result === undefined ? {} : { result }) } } : {};
  const last = { ...extra, ...end };
  const hasLast = Object.values(last).some((value) => value !== undefined);
  return hasLast ? [...frames, { ...last, firstOrdinal: next, items: [] }] : frames;
}

function inFrames(piece: JournalItem[]): JournalItem[][] {
  const isOne = isLeanList(piece) && fitsFrame(piece, roughSize(piece));
  return isOne ? [piece] : piece.map((item) => [item]);
}

function isLeanList(items: readonly JournalItem[]): boolean {
  return countValues(items, MAX_BATCH_DEPTH + 1) <= MAX_BATCH_VALUES;
}

/** False if no frame can hold the value. */
export function fitsFrame(value: unknown, roughChars: number): boolean {
  return roughChars <= SURELY_FITS_CHARS || bytesOf(value) <= MAX_BATCH_BYTES;
}

/** False if the value is nested too deep for a frame, or has too many values. */
export function isLean(value: unknown): boolean {
  return countValues(value, MAX_BATCH_DEPTH) <= MAX_BATCH_VALUES;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
