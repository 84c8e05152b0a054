/**
 * Metadata of an OpenID provider: its addresses and its keys. They are cached, because every sign-in needs
 * them. Keys are fetched again when a token names an unknown one, but at most every half minute, whatever
 * tokens arrive.
 */
import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from "jose";
import * as z from "zod";
import { askProvider } from "./ask-provider.ts";
import { problem } from "./problems.ts";

const KEPT_MS = 10 * 60_000;
/** Strangers can trigger requests: a provider that is down is not asked for each of them. */
const FAILURE_KEPT_MS = 5_000;
const ASK_KEYS_EVERY_MS = 30_000;
const MAX_KEYS = 100;

const address = z.string().max(2_000);
const documentSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
export type OidcDocument = z.infer<typeof documentSchema>;

const keysSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS),
});

export interface OidcMetadata {
  document(): Promise<OidcDocument>;
  /** `isFresh`: fetches the keys again, unless the cached ones are only a moment old. */
  keys(isFresh: boolean): Promise<LocalJWKSet>;
}

export function createMetadata(issuer: string, now: () => number): OidcMetadata {
  let document: { value: OidcDocument; at: number } | undefined;
  let keys: { value: LocalJWKSet; at: number } | undefined;
  let failure: { error: unknown; at: number } | undefined;
  let asking: Promise<OidcDocument> | undefined;

  async function readDocument(): Promise<OidcDocument> {
    if (document && now() - document.at < KEPT_MS) return document.value;
    if (failure && now() - failure.at < FAILURE_KEPT_MS) throw failure.error;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function ask(): Promise<OidcDocument> {
    try {
      const value = await askDocument(issuer);
      document = { value, at: now() };
      failure = undefined;
      return value;
    } catch (error) {
      failure = { error, at: now() };
      throw error;
    }
  }

  return {
    document: readDocument,
    async keys(isFresh) {
      const ageMs = keys ? now() - keys.at : Number.POSITIVE_INFINITY;
      if (keys && ageMs < (isFresh ? ASK_KEYS_EVERY_MS : KEPT_MS)) return keys.value;
      const value = await askKeys((await readDocument()).jwks_uri);
      keys = { value, at: now() };
      return value;
    },
  };
}

async function askDocument(issuer: string): Promise<OidcDocument> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { status, json } = await askProvider(url);
  const parsed = documentSchema.safeParse(json);
  if (status !== 200 || !parsed.success)
    throw problem("provider_unavailable", `${url} is no discovery document (status ${status})`);
  // Otherwise one provider could speak for another.
  if (parsed.data.issuer !== issuer)
    throw problem("provider_unavailable", `${url} is of another issuer; check MUSTER_OIDC_ISSUER`);
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = parsed.data;
  for (const used of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint])
    if (used !== undefined && !isAsSafe(used, issuer))
      throw problem("provider_unavailable", `${url} names an address that is not https`);
  return parsed.data;
}

/** Plain HTTP is allowed only where the issuer itself uses it: on this machine. */
function isAsSafe(address: string, issuer: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  if (protocol === "https:") return true;
  const own = new URL(issuer);
  return protocol === "http:" && own.protocol === "http:" && hostname === own.hostname;
}

async function askKeys(url: string): Promise<LocalJWKSet> {
  const { status, json } = await askProvider(url);
  const parsed = keysSchema.safeParse(json);
  if (status !== 200 || !parsed.success)
    throw problem("provider_unavailable", `the keys could not be read (status ${status})`);
  return createLocalJWKSet(parsed.data as JSONWebKeySet);
}
