/**
 * Metadata of an OpenID provider: its addresses and its keys. They are cached, because every sign-in needs
 * them. Keys are fetched again when a token names an unknown one, but at most every half minute, whatever
 * tokens arrive.
 */
import {
  allowInsecureRequests,
  ClientError,
  type CustomFetch,
  customFetch,
  discovery,
  type ExportedJWKSCache,
} from "openid-client";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { SignInProblem } from "#protocol/sign-in.ts";
import { askProvider } from "./ask-provider.ts";
import { problem } from "./problems.ts";

const KEPT_MS = 10 * 60_000;
/** Strangers can trigger requests: a provider that is down is not asked for each of them. */
const FAILURE_KEPT_MS = 5_000;
const ASK_KEYS_EVERY_MS = 30_000;
/** Age from which on the library fetches keys again for an unknown one, by the clock of the machine. */
const LIBRARY_ASKS_AFTER_S = 60;
const MAX_KEYS = 100;

const keysSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS),
});
type Keys = ExportedJWKSCache["jwks"];

export interface OidcMetadata {
  document(): Promise<OidcDocument>;
  /** Cached keys, dated so that the library fetches new ones exactly when that is allowed. */
  keys(): ExportedJWKSCache | undefined;
  fetchKeys(): Promise<Keys>;
}

export function createMetadata(issuer: string, clientId: string, now: () => number): OidcMetadata {
  let document: { value: Promise<OidcDocument>; until: number } | undefined;
  let keys: { value: Keys; at: number } | undefined;

  function readDocument(): Promise<OidcDocument> {
    if (document && now() < document.until) return document.value;
    const asked = { value: discover(issuer, clientId), until: Number.POSITIVE_INFINITY };
    asked.value.then(
      () => {
        asked.until = now() + KEPT_MS;
      },
      () => {
        asked.until = now() + FAILURE_KEPT_MS;
      },
    );
    document = asked;
    return asked.value;
  }

  return {
    document: readDocument,
    keys() {
      const ageMs = keys ? now() - keys.at : Number.POSITIVE_INFINITY;
      if (!keys || ageMs >= KEPT_MS) return undefined;
      const ageS = ageMs < ASK_KEYS_EVERY_MS ? 0 : LIBRARY_ASKS_AFTER_S;
      return { jwks: keys.value, uat: Math.floor(Date.now() / 1_000) - ageS };
    },
    async fetchKeys() {
      const { status, json } = await askProvider((await readDocument()).jwks_uri);
      const parsed = keysSchema.safeParse(json);
      if (status !== 200 || !parsed.success)
        throw problem("provider_unavailable", `the keys could not be read (status ${status})`);
      keys = { value: parsed.data as Keys, at: now() };
      return keys.value;
    },
  };
}

export type OidcDocument = z.infer<ReturnType<typeof documentSchema>>;

function documentSchema(issuer: string) {
  const address = z
    .string()
    .max(2_000)
    .refine((url) => isAsSafe(url, issuer), "is no https address");
  return z.object({
    // Otherwise one provider could speak for another. The library compares less strictly.
    issuer: z.literal(issuer, "is another"),
    authorization_endpoint: address,
    token_endpoint: address,
    jwks_uri: address,
    userinfo_endpoint: address.exactOptional(),
    token_endpoint_auth_methods_supported: z.array(z.string()).exactOptional(),
    authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
  });
}

/** Plain HTTP is allowed only where the issuer itself uses it: on this machine. */
function isAsSafe(address: string, issuer: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  if (protocol === "https:") return true;
  return protocol === "http:" && isPlainHttp(issuer) && hostname === new URL(issuer).hostname;
}

export const isPlainHttp = (issuer: string) => new URL(issuer).protocol === "http:";

async function discover(issuer: string, clientId: string): Promise<OidcDocument> {
  const why = `${issuer} has no usable discovery document, check MUSTER_OIDC_ISSUER`;
  const config = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: limitedFetch,
    execute: isPlainHttp(issuer) ? [allowInsecureRequests] : [],
  }).catch((error: unknown) => {
    throw refusalOf("provider_unavailable", why, error);
  });
  const parsed = documentSchema(issuer).safeParse(config.serverMetadata());
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw problem("provider_unavailable", `${why}: ${issue?.path[0]?.toString()} ${issue?.message}`);
}

/** Sends a GET request of the library within our limits. */
const limitedFetch: CustomFetch = async (url, { headers }) => {
  const { status, json } = await askProvider(url, { headers });
  return Response.json(json ?? null, { status });
};

/** Returns the refusal of a failed request, or one with the library's reason. */
export function refusalOf(code: SignInProblem, why: string, error: unknown): Refusal {
  const { message, cause } = error as Error;
  if (cause instanceof Refusal) return cause;
  // The cause of a coded error names the claim or the field. Other causes could quote what arrived.
  const isNamed = error instanceof ClientError && error.code !== undefined;
  return problem(code, `${why}: ${isNamed && cause instanceof Error ? cause.message : message}`);
}
