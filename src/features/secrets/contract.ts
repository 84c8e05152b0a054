/** Secrets on the wire, and their routes. A value goes in; no route returns it. */
import * as z from "zod";
import { isStorable } from "#base/text/clean-text.ts";
import { UNSTORABLE } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";

export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
export const SECRET_NAME_RULE =
  "Start with a letter; use up to 64 letters, digits, dots, dashes and underscores, such as GITHUB_TOKEN.";
export const MAX_SECRET_BYTES = 64 * 1024;

export const SECRET_SCOPES = ["user", "org"] as const;
export type SecretScope = (typeof SECRET_SCOPES)[number];

export const secretSchema = z
  .object({
    name: z.string(),
    /** `user`: one person's own. `org`: the organisation's. */
    scope: z.enum(SECRET_SCOPES),
    description: z.string().nullable(),
    /** Counts up with every new value. */
    version: z.number().int(),
    createdAt: isoTime,
    updatedAt: isoTime,
    /** Rounded to the minute; null: never. */
    lastUsedAt: isoTime.nullable(),
    /** Reason why the value cannot be used, and the remedy; null when it can. */
    problem: z.string().nullable(),
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof secretSchema>;

export const secretChangeSchema = z.strictObject({
  value: z.string().min(1, "must not be empty").refine(isStorable, UNSTORABLE),
  /** Left out: unchanged. Null: none. */
  description: z.string().trim().max(500).refine(isStorable, UNSTORABLE).nullable().optional(),
});
export type SecretChange = z.infer<typeof secretChangeSchema>;

const secretListQuery = z.strictObject(pageQuery);
export type SecretListQuery = z.infer<typeof secretListQuery>;

const TAG = "Secrets";
const oneSecret = z.object({ secret: secretSchema });

/**
 * Builds the same routes for both kinds of secret, which differ in their owner and in who may change them.
 */
function routesAt<const Path extends string>(path: Path, whose: string) {
  return {
    list: apiRoute({
      method: "get",
      path,
      summary: `The secrets ${whose}, without their values`,
      tag: TAG,
      query: secretListQuery,
      response: pageOf(secretSchema),
    }),
    set: apiRoute({
      method: "put",
      path: `${path}/{name}` as const,
      summary: `Set a secret ${whose}, or give it a new value; it is stored encrypted and never shown`,
      tag: TAG,
      body: secretChangeSchema,
      response: oneSecret,
    }),
    delete: apiRoute({
      method: "delete",
      path: `${path}/{name}` as const,
      summary: `Delete a secret ${whose}`,
      tag: TAG,
      response: oneSecret,
    }),
  };
}

export const orgSecretsApi = routesAt(
  "/api/orgs/{orgId}/secrets",
  "of the organisation (changed by admins)",
);
export const secretsApi = routesAt("/api/me/secrets", "of your own");
