/** What is said about model providers on the wire. A key goes in; it never comes out. */
import * as z from "zod";
import { isoTime } from "#protocol/page.ts";

export const PROVIDER_KINDS = ["anthropic", "openai", "openai-chat", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,40}$/;

export const providerSchema = z
  .object({
    name: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    /** Null for those who may not change it. */
    baseUrl: z.string().nullable(),
    hasKey: z.boolean(),
    /** Its last characters, to tell keys apart; null for a short one and for those who may not change it. */
    keyEnd: z.string().nullable(),
    /** What is offered; null when the provider is asked. */
    models: z.array(z.string()).nullable(),
    /** False: it gave no list of models when it was saved, so its key was never tried. It is no default then. */
    answered: z.boolean(),
    /** Why its key cannot be used and what to do; null when it can. */
    problem: z.string().nullable(),
    updatedAt: isoTime,
  })
  .meta({ id: "Provider" });
export type Provider = z.infer<typeof providerSchema>;

/** It will be a header, so it holds nothing that could end one. */
const apiKey = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,4000}$/, "must be one line of visible ASCII characters");

export const providerChangeSchema = z.strictObject({
  kind: z.enum(PROVIDER_KINDS),
  /** Left out: as it was, or the usual one of this kind. */
  baseUrl: z.string().min(1).max(2_000).optional(),
  /** Left out: as it was. */
  apiKey: apiKey.optional(),
  /** Left out: as it was. Null: the provider is asked. */
  models: z
    .array(z.string().regex(/^[\x21-\x7e]{1,200}$/, "must be the name of a model"))
    .min(1)
    .max(500)
    .nullable()
    .optional(),
});
export type ProviderChange = z.infer<typeof providerChangeSchema>;
