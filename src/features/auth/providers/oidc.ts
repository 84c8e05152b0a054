/**
 * Any OpenID Connect provider, by its discovery document: code flow with PKCE and nonce. The ID token must be
 * signed by one of the issuer's own keys with an accepted algorithm, for this client and this sign-in, and
 * must not have expired.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  setJwksCache,
} from "openid-client";
import * as z from "zod";
import { askProvider, oauthError } from "./ask-provider.ts";
import { challengeOf } from "./challenge.ts";
import { plainName, verifiedEmail } from "./claims.ts";
import { createMetadata, isPlainHttp, type OidcDocument, refusalOf } from "./oidc-metadata.ts";
import { problem } from "./problems.ts";
import type { Identity, SignInProvider } from "./provider.ts";

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
}

/** Public-key algorithms only: with a shared secret, or without any, everyone could sign. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const CLOCK_SKEW_S = 60;
const MAX_TOKEN_CHARS = 64 * 1024;
/** Stands for an access token that was not given: the library requires one, a sign-in does not. */
const NO_ACCESS_TOKEN = "none";

const tokensSchema = z.object({
  id_token: z.string().max(MAX_TOKEN_CHARS),
  access_token: z.string().max(MAX_TOKEN_CHARS).optional(),
});

const claimsSchema = z.object({
  sub: z.string().min(1).max(255),
  name: z.string().nullish().catch(null),
  preferred_username: z.string().nullish().catch(null),
  email: z.string().nullish().catch(null),
  /** Counts only if exactly true: some providers send "true", not always with a meaning. */
  email_verified: z.unknown().optional(),
});
type Claims = z.infer<typeof claimsSchema>;

export function createOidc(settings: OidcSettings, now: () => number): SignInProvider {
  const { issuer, clientId, name } = settings;
  const metadata = createMetadata(issuer, clientId, now);

  /** Configures the library for one sign-in, because it takes clock and keys as settings. */
  async function configure(redirectUri: string): Promise<Configuration> {
    const document = await metadata.document();
    const config = new Configuration(
      { ...document, id_token_signing_alg_values_supported: ALGORITHMS },
      clientId,
      { [clockSkew]: (now() - Date.now()) / 1_000, [clockTolerance]: CLOCK_SKEW_S },
      clientAuth(document, settings, redirectUri),
    );
    // Without it the library trusts an ID token that came over TLS, whoever signed it.
    enableNonRepudiationChecks(config);
    if (isPlainHttp(issuer)) allowInsecureRequests(config);
    const keys = metadata.keys();
    if (keys) setJwksCache(config, keys);
    config[customFetch] = async (url, request) =>
      request.method === "POST"
        ? askTokens(url, request)
        : Response.json(await metadata.fetchKeys());
    return config;
  }

  return {
    id: "oidc",
    name,
    issuer,

    async authorizeUrl({ state, verifier, nonce, redirectUri }) {
      return buildAuthorizationUrl(await configure(redirectUri), {
        redirect_uri: redirectUri,
        scope: "openid profile email",
        state,
        nonce,
        code_challenge: challengeOf(verifier),
        code_challenge_method: "S256",
      }).href;
    },

    async identify({ code, iss }, { verifier, nonce, redirectUri }) {
      const config = await configure(redirectUri);
      const back = new URL(redirectUri);
      back.search = String(new URLSearchParams({ code, ...(iss === undefined ? {} : { iss }) }));
      const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce };
      const tokens = await authorizationCodeGrant(config, back, checks).catch((error: unknown) => {
        throw refusalOf("identity_not_confirmed", "the sign-in was refused", error);
      });
      const payload = tokens.claims();
      // The library checks `azp` only if there are several audiences.
      if (payload?.azp !== undefined && payload.azp !== clientId)
        throw notConfirmed("the ID token was made for another client");
      const claims = claimsSchema.safeParse(payload);
      if (!claims.success) throw notConfirmed("the ID token has no usable subject");
      return identityOf(await withUserInfo(claims.data, config, tokens.access_token));
    },
  };
}

/**
 * Authenticates with Basic, or in the body where the provider offers only that. The library's own Basic also
 * encodes `-`, `_` and `.`, which providers that do not decode them refuse.
 */
function clientAuth(
  { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] }: OidcDocument,
  { clientId, clientSecret }: OidcSettings,
  redirectUri: string,
): ClientAuth {
  const inBody = !methods.includes("client_secret_basic") && methods.includes("client_secret_post");
  const basic = Buffer.from(`${formPart(clientId)}:${formPart(clientSecret)}`).toString("base64");
  const post = ClientSecretPost(clientSecret);
  return (server, client, body, headers) => {
    // Providers compare it with the one they were sent; the library has normalized its host and port.
    body.set("redirect_uri", redirectUri);
    if (inBody) post(server, client, body, headers);
    else headers.set("authorization", `Basic ${basic}`);
  };
}

/** Form-encodes a half of Basic credentials, as OAuth requires. */
const formPart = (text: string) => new URLSearchParams({ x: text }).toString().slice(2);

/** Exchanges a code within our limits. The library also requires fields that a sign-in does not need. */
const askTokens: CustomFetch = async (url, { headers, body }) => {
  const form = body instanceof URLSearchParams ? body : undefined;
  const { status, json } = await askProvider(url, { headers, form });
  const tokens = tokensSchema.safeParse(json);
  if (!tokens.success) throw notConfirmed(`the provider gave no ID token: ${oauthError(json)}`);
  const { id_token, access_token } = tokens.data;
  const required = { access_token: access_token || NO_ACCESS_TOKEN, token_type: "bearer" };
  return Response.json({ id_token, ...required }, { status });
};

/** Adds the user info, where many providers give addresses only; it counts for the same subject alone. */
async function withUserInfo(claims: Claims, config: Configuration, token: string): Promise<Claims> {
  const knows = typeof claims.email === "string" && typeof claims.name === "string";
  const url = config.serverMetadata().userinfo_endpoint;
  if (knows || url === undefined || token === NO_ACCESS_TOKEN) return claims;
  const { status, json } = await askProvider(url, {
    headers: { authorization: `Bearer ${token}` },
  });
  const more = claimsSchema.safeParse(json);
  if (status !== 200 || !more.success) return claims;
  if (more.data.sub !== claims.sub) throw notConfirmed("the user info is of another subject");
  const whose = typeof claims.email === "string" ? claims : more.data;
  return {
    sub: claims.sub,
    name: claims.name ?? more.data.name,
    preferred_username: claims.preferred_username ?? more.data.preferred_username,
    email: whose.email,
    email_verified: whose.email_verified,
  };
}

function identityOf({ sub, name, preferred_username, email, email_verified }: Claims): Identity {
  const verified = email_verified === true ? verifiedEmail(email) : undefined;
  const handle = plainName(preferred_username);
  return {
    subject: sub,
    label: plainName(email) ?? handle ?? plainName(name) ?? "account",
    name: plainName(name) ?? handle ?? plainName(email?.split("@")[0]) ?? "Member",
    emails: verified === undefined ? [] : [verified],
  };
}

const notConfirmed = (why: string) => problem("identity_not_confirmed", why);
