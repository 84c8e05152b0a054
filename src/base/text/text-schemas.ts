/** Schemas of text fields in requests. */
import * as z from "zod";
import { cleanText, isStorable } from "#base/text/clean-text.ts";

export const UNSTORABLE = "must not contain NUL characters or broken Unicode";

/** A name or a short text on one line: refused if a database cannot store it. */
export const line = (max: number) => z.string().max(max).refine(isStorable, UNSTORABLE);

/** Free text: characters that a database cannot store are replaced. */
export const prose = (max: number) => z.string().max(max).transform(cleanText);

/** A comma-separated list of known words. */
export const wordList = <const Words extends readonly string[]>(words: Words) =>
  z
    .string()
    .max(500)
    .transform((text) => text.split(",").filter((word) => word !== ""))
    .pipe(z.array(z.enum(words)))
    .optional();
