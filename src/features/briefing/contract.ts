import * as z from "zod";

export const refreshSchema = z.strictObject({
  /** By id or slug; the one it has, when nothing is said. */
  persona: z.string().min(1).max(200).optional(),
});

export const refreshAnswerSchema = z.object({ persona: z.string(), version: z.number().int() });
