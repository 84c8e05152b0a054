/** Search on the wire, and its route. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, PAGE_LIMIT_MAX, pageOf, pageQuery } from "#protocol/page.ts";

/** What can be found, in the order in which it is offered to choose from. */
export const SEARCH_KINDS = [
  "session",
  "transcript",
  "task",
  "letter",
  "memory",
  "persona",
  "repo",
] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Longer questions are cut, not refused: they are somebody's paste. */
export const MAX_QUERY_CHARS = 1_000;
export const SEARCH_LIMIT_DEFAULT = 20;

/** Where a match stands in a text: from, up to; in UTF-16 code units, in order, never overlapping. */
export const matchRangesSchema = z.array(
  z.tuple([z.number().int().min(0), z.number().int().min(0)]),
);
export type MatchRanges = z.infer<typeof matchRangesSchema>;

export const searchItemSchema = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    /** Of the thing in its own list; of a piece of a transcript: its session, a colon, and its seq. */
    id: z.string(),
    /** Plain text; of a piece of a transcript, its session's. */
    title: z.string(),
    titleMatches: matchRangesSchema,
    /** Plain text, a part of what was found; empty when there is nothing besides the title. */
    snippet: z.string(),
    matches: matchRangesSchema,
    /** Only to be compared with others of the same answer; more is better. */
    score: z.number(),
    /** The page that shows it, from the root of this server. */
    url: z.string(),
    /** When it was written or last changed. */
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
  /** Some of the kinds with commas between them; all of them when nothing is said. */
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
