/** Search on the wire, and its route. */

import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";

/** Kinds of things, in the order in which a person can choose them. */
export const SEARCH_KINDS = [
  "session",
  "transcript",
  "task",
  "message",
  "memory",
  "persona",
  "repo",
] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Maximum length of a query. Longer ones are cut, not refused: they come from a paste. */
export const MAX_QUERY_CHARS = 1_000;
export const SEARCH_LIMIT_DEFAULT = 20;

/** Ranges of matches in a text: from, up to; in UTF-16 code units, in order, never overlapping. */
export const matchRangesSchema = z.array(
  z.tuple([z.number().int().min(0), z.number().int().min(0)]),
);
export type MatchRanges = z.infer<typeof matchRangesSchema>;

export const searchItemSchema = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    /** Id of the thing in its own list; for an entry of a transcript: its session, a colon, and its seq. */
    id: z.string(),
    /** Plain text; for an entry of a transcript, the title of its session. */
    title: z.string(),
    titleMatches: matchRangesSchema,
    /** Plain text, a part of the thing; empty if there is nothing besides the title. */
    snippet: z.string(),
    matches: matchRangesSchema,
    /** Comparable only with other scores of the same response; higher is better. */
    score: z.number(),
    /** Page of the thing, from the root of this server. */
    url: z.string(),
    /** Time of writing or of the last change. */
    at: isoTime,
  })
  .meta({ id: "SearchItem" });
export type SearchItem = z.infer<typeof searchItemSchema>;

export const searchPageSchema = pageOf(searchItemSchema);
export type SearchPage = z.infer<typeof searchPageSchema>;

const kindsInput = z
  .string()
  .max(200)
  .transform((text) => text.split(",").filter((kind) => kind !== ""))
  .pipe(z.array(z.enum(SEARCH_KINDS)));

export const searchQuery = z.strictObject({
  /** Plain words, and "words in quotes" that must stand together. Nothing else has a meaning. */
  q: z.string().default(""),
  /** Kinds, separated by commas; default: all of them. */
  kinds: kindsInput.optional(),
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(SEARCH_LIMIT_DEFAULT),
  cursor: pageQuery.cursor,
});
export type SearchQuery = z.infer<typeof searchQuery>;

export const SEARCH_TOO_SLOW = "search_too_slow";

export const searchApi = {
  find: apiRoute({
    method: "get",
    path: "/api/search",
    summary: "Search everything that you may see by plain words, the best match first",
    tag: "Search",
    query: searchQuery,
    response: searchPageSchema,
  }),
};
