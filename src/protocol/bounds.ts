/**
 * Numbers in frames of runners. A runner may be anybody's machine: what it says is a whole number, not
 * negative, and small enough that sums of very many stay exact.
 */
import * as z from "zod";

/** Frames of runners are not larger, nested deeper or fuller than this. */
export const MAX_RUNNER_FRAME_BYTES = 16 * 1024 * 1024;
export const RUNNER_FRAME_BOUNDS = { depth: 64, values: 250_000 } as const;

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
/** What a process ends with. */
export const exitCodeSchema = z.number().int().min(0).max(0xffff_ffff);
