/** A batch of the journal, and how it is cut into frames that the server takes. */
import { countValues } from "#base/json-bounds.ts";
import { MAX_PLAIN_FRAME_BYTES, RUNNER_FRAME_BOUNDS } from "#protocol/bounds.ts";
import type { JournalItem, Settlement } from "#protocol/events.ts";
import type { ExecutorBinding, Park } from "#protocol/frames.ts";

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

/** Room for what surrounds a batch in its frame. */
const MAX_BATCH_BYTES = MAX_PLAIN_FRAME_BYTES - 64 * 1024;
/** A character takes six bytes at most, so what has fewer need not be measured. */
const SURELY_FITS_CHARS = Math.floor(MAX_BATCH_BYTES / 6);
const MAX_RESULT_CHARS = 600_000;
/** Less than a frame may have: the batch around an item has some too. */
const MAX_BATCH_DEPTH = RUNNER_FRAME_BOUNDS.depth - 4;
const MAX_BATCH_VALUES = RUNNER_FRAME_BOUNDS.values - 1_000;

/**
 * One frame where it fits; else one for each item, and what ends the turn in a last one of its own. A
 * result that is too long by itself is cut: the transcript has all of it.
 */
export function framesOf(batch: JournalBatch, roughChars: number): JournalBatch[] {
  const resultChars = batch.settle?.result?.length ?? 0;
  const isSmall = roughChars + resultChars <= SURELY_FITS_CHARS;
  const isLeanBatch = countValues(batch.items, MAX_BATCH_DEPTH + 1) <= MAX_BATCH_VALUES;
  if (isLeanBatch && (isSmall || bytesOf(batch) <= MAX_BATCH_BYTES)) return [batch];
  const { firstOrdinal, items, settle, ...extra } = batch;
  const single = items.map((item, at) => ({ firstOrdinal: firstOrdinal + at, items: [item] }));
  const result = settle?.result?.slice(0, MAX_RESULT_CHARS);
  const last: JournalBatch = {
    ...extra,
    firstOrdinal: firstOrdinal + items.length,
    items: [],
    ...(settle ? { settle: { ...settle, ...(result === undefined ? {} : { result }) } } : {}),
  };
  return [...single, last];
}

/** False when no frame can hold it. */
export function fitsFrame(value: unknown, roughChars: number): boolean {
  return roughChars <= SURELY_FITS_CHARS || bytesOf(value) <= MAX_BATCH_BYTES;
}

/** False when it is nested too deep for a frame, or has too many values. */
export function isLean(value: unknown): boolean {
  return countValues(value, MAX_BATCH_DEPTH) <= MAX_BATCH_VALUES;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
