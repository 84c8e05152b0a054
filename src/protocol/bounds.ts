/**
 * Numbers in frames of runners. A runner may be anybody's machine: its numbers must be whole, not
 * negative, and small enough that sums of very many stay exact.
 */
import * as z from "zod";

/**
 * Bounds of a runner's frame. The largest frame carries a blob, whose bytes are one string; all
 * other frames are parsed and stored, which costs far more.
 */
export const MAX_RUNNER_FRAME_BYTES = 8 * 1024 * 1024;
export const MAX_PLAIN_FRAME_BYTES = 4 * 1024 * 1024;
export const RUNNER_FRAME_BOUNDS = { depth: 64, values: 40_000 } as const;
/** Items of a journal that one transaction writes: a frame with more is written in pieces of this size. */
export const JOURNAL_PIECE = { items: 50, chars: 500_000 } as const;
/** Items in one frame of a journal; each is parsed. */
export const MAX_FRAME_ITEMS = 500;
/** Length of a call id: some model servers put more than a number into it. */
export const MAX_CALL_ID_CHARS = 8_000;
/** Length of one delta; a longer piece is shown when its entry is finished. */
export const MAX_DELTA_CHARS = 1_000_000;
/** Length of a tool name in a delta. A model may make up any name; no tool of ours has a longer one. */
export const MAX_DELTA_TOOL_CHARS = 200;

/** Positions in a log, fences, ordinals, sizes in bytes. */
export const placeSchema = z.number().int().min(0).max(1e15);
/** Tokens, lines or files of one step. */
export const countSchema = z.number().int().min(0).max(1e9);
/** Cost of one request, at most ten thousand dollars. */
export const microsSchema = z.number().int().min(0).max(1e10);
/** Durations up to a year. Fractions are rounded: clocks have them. */
export const durationSchema = z
  .number()
  .min(0)
  .max(366 * 24 * 60 * 60_000)
  .transform(Math.round);
/** Exit code of a process. */
export const exitCodeSchema = z.number().int().min(0).max(0xffff_ffff);
