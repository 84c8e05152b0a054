/**
 * Numbers in frames of runners. A runner may be anybody's machine: what it says is a whole number, not
 * negative, and small enough that sums of very many stay exact.
 */
import * as z from "zod";

/**
 * Frames of runners are not larger, nested deeper or fuller than this. The largest one carries a
 * blob, whose bytes are one string; all others are taken apart and stored, which costs far more.
 */
export const MAX_RUNNER_FRAME_BYTES = 8 * 1024 * 1024;
export const MAX_PLAIN_FRAME_BYTES = 4 * 1024 * 1024;
export const RUNNER_FRAME_BOUNDS = { depth: 64, values: 40_000 } as const;
/** Items of a journal that one transaction writes: a frame with more is written in pieces of this size. */
export const JOURNAL_PIECE = { items: 50, chars: 500_000 } as const;
/** Items in one frame of a journal: each is looked at, whatever it is. */
export const MAX_FRAME_ITEMS = 500;
/** Ids of calls: some servers of models put more than a number into them. */
export const MAX_CALL_ID_CHARS = 8_000;
/** One piece of an entry being written; longer ones are shown when they are finished. */
export const MAX_DELTA_CHARS = 1_000_000;
/** Name of a tool in such a piece. A model may make up any; no tool of ours has a longer one. */
export const MAX_DELTA_TOOL_CHARS = 200;

/** Places in a log, fences, ordinals, sizes in bytes. */
export const placeSchema = z.number().int().min(0).max(1e15);
/** Tokens, lines, files: of one step. */
export const countSchema = z.number().int().min(0).max(1e9);
/** Money of one request: ten thousand dollars. */
export const microsSchema = z.number().int().min(0).max(1e10);
/** A year. Fractions are rounded: clocks have them. */
export const durationSchema = z
  .number()
  .min(0)
  .max(366 * 24 * 60 * 60_000)
  .transform(Math.round);
/** Exit code of a process. */
export const exitCodeSchema = z.number().int().min(0).max(0xffff_ffff);
