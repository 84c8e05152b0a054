/** Model providers on the wire, and their routes. A key goes in; no route returns it. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf } from "#protocol/page.ts";

export const PROVIDER_KINDS = ["anthropic", "openai", "openai-chat", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,40}$/;

export const providerSchema = z
  .object({
    name: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    /** Null for callers who may not change it. */
    baseUrl: z.string().nullable(),
    hasKey: z.boolean(),
    /**
     * Last characters of the key, to tell keys apart; null for a short one and for callers who may not change
     * it.
     */
    keyEnd: z.string().nullable(),
    /** Offered models; null: the provider's own list. */
    models: z.array(z.string()).nullable(),
    /** False: it sent no list of models when it was saved, so its key is untried. It is no default then. */
    answered: z.boolean(),
    /** Reason why the key cannot be used, and the remedy; null when it can. */
    problem: z.string().nullable(),
    updatedAt: isoTime,
  })
  .meta({ id: "Provider" });
export type Provider = z.infer<typeof providerSchema>;

/** The key becomes a header, so it contains no character that could end one. */
const apiKey = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,4000}$/, "must be one line of visible ASCII characters");

export const providerChangeSchema = z.strictObject({
  kind: z.enum(PROVIDER_KINDS),
  /** Left out: unchanged, or the default of this kind. */
  baseUrl: z.string().min(1).max(2_000).optional(),
  /** Left out: unchanged. */
  apiKey: apiKey.optional(),
  /** Left out: unchanged. Null: the provider's own list. */
  models: z
    .array(z.string().regex(/^[\x21-\x7e]{1,200}$/, "must be the name of a model"))
    .min(1)
    .max(500)
    .nullable()
    .optional(),
});
export type ProviderChange = z.infer<typeof providerChangeSchema>;

const TAG = "Providers";
const PROVIDERS = "/api/providers";
const PROVIDER = `${PROVIDERS}/{name}` as const;
const oneProvider = z.object({ provider: providerSchema });

export const providersApi = {
  list: apiRoute({
    method: "get",
    path: PROVIDERS,
    summary: "The model providers that were added in the settings, without their keys",
    tag: TAG,
    response: pageOf(providerSchema),
  }),
  set: apiRoute({
    method: "put",
    path: PROVIDER,
    summary:
      "Add or change a model provider (admins); its key is tried first, and is then stored encrypted on the server",
    tag: TAG,
    body: providerChangeSchema,
    response: oneProvider,
  }),
  delete: apiRoute({
    method: "delete",
    path: PROVIDER,
    summary: "Delete a model provider and its key (admins)",
    tag: TAG,
    response: oneProvider,
  }),
};
