/** What is said about secrets on the wire. A value goes in; it never comes out. */
import * as z from "zod";
import { isoTime, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "#protocol/page.ts";

export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
export const SECRET_NAME_RULE =
  "Begin with a letter; take up to 64 letters, digits, dots, dashes and underscores, such as GITHUB_TOKEN.";
export const MAX_SECRET_BYTES = 64 * 1024;

export const SECRET_SCOPES = ["user", "org"] as const;
export type SecretScope = (typeof SECRET_SCOPES)[number];

export const secretSchema = z
  .object({
    name: z.string(),
    /** `user`: one person's own. `org`: everybody's. */
    scope: z.enum(SECRET_SCOPES),
    description: z.string().nullable(),
    /** Counts up with every new value. */
    version: z.number().int(),
    createdAt: isoTime,
    updatedAt: isoTime,
    /** To the minute; null: never. */
    lastUsedAt: isoTime.nullable(),
    /** Why its value cannot be used and what to do; null when it can. */
    problem: z.string().nullable(),
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof secretSchema>;

const isStorable = (text: string) => text.isWellFormed() && !text.includes("\u0000");
const STORABLE = "must not contain NUL characters or broken Unicode";

export const secretChangeSchema = z.strictObject({
  value: z.string().min(1, "must not be empty").refine(isStorable, STORABLE),
  /** Left out: as it was. Null: none. */
  description: z.string().trim().max(500).refine(isStorable, STORABLE).nullable().optional(),
});
export type SecretChange = z.infer<typeof secretChangeSchema>;

export const secretListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
});
