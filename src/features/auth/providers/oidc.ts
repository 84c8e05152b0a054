/**
 * Any OpenID Connect provider, by its discovery document: code flow with PKCE and nonce. The ID token must be
 * signed by one of the issuer's own keys with an accepted algorithm, for this client and this sign-in, and
 * must not have expired.
 */
import { errors, type JWTPayload, jwtVerify } from "jose";
import * as z from "zod";
import { askProvider, oauthError } from "./ask-provider.ts";
import { challengeOf } from "./challenge.ts";
import { plainName, verifiedEmail } from "./claims.ts";
import { createMetadata, type OidcDocument, type OidcMetadata } from "./oidc-metadata.ts";
import { problem } from "./problems.ts";
import type { Identity, ProviderAnswer, Round, SignInProvider } from "./provider.ts";

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

const tokensSchema = z.object({
  id_token: z.string().max(MAX_TOKEN_CHARS),
  access_token: z.string().max(MAX_TOKEN_CHARS).optional(),
});
type Tokens = z.infer<typeof tokensSchema>;

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
  const metadata = createMetadata(issuer, now);
  return {
    id: "oidc",
    name,
    issuer,

    async authorizeUrl({ state, verifier, nonce, redirectUri }) {
      const url = new URL((await metadata.document()).authorization_endpoint);
      const query = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: "openid profile email",
        state,
        nonce,
        code_challenge: challengeOf(verifier),
        code_challenge_method: "S256",
      };
      for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
      return url.href;
    },

    async identify(answer, round) {
      const document = await metadata.document();
      refuseOtherIssuer(document, answer);
      const tokens = await exchange(document, settings, answer.code, round);
      const payload = await verify(tokens.id_token, metadata, settings, now);
      if (payload.nonce !== round.nonce) throw notConfirmed("the ID token is of another round");
      const claims = claimsSchema.safeParse(payload);
      if (!claims.success) throw notConfirmed("the ID token has no usable subject");
      return identityOf(await withUserInfo(claims.data, document, tokens));
    },
  };
}

/**
 * A provider that names the issuer in its responses must do so always and correctly: otherwise one could pass
 * on another's code.
 */
function refuseOtherIssuer(document: OidcDocument, { iss }: ProviderAnswer): void {
  const isRequired = document.authorization_response_iss_parameter_supported === true;
  if (iss === document.issuer || (iss === undefined && !isRequired)) return;
  throw notConfirmed("the answer is of another issuer");
}

async function exchange(
  document: OidcDocument,
  { clientId, clientSecret }: OidcSettings,
  code: string,
  { verifier, redirectUri }: Omit<Round, "state">,
): Promise<Tokens> {
  const methods = document.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const inBody = !methods.includes("client_secret_basic") && methods.includes("client_secret_post");
  const basic = Buffer.from(`${formPart(clientId)}:${formPart(clientSecret)}`).toString("base64");
  const { json } = await askProvider(document.token_endpoint, {
    headers: inBody ? {} : { authorization: `Basic ${basic}` },
    form: {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...(inBody ? { client_id: clientId, client_secret: clientSecret } : {}),
    },
  });
  const tokens = tokensSchema.safeParse(json);
  if (!tokens.success) throw notConfirmed(`the provider gave no ID token: ${oauthError(json)}`);
  return tokens.data;
}

/** Form-encodes a half of Basic credentials, as OAuth requires. */
const formPart = (text: string) => new URLSearchParams({ x: text }).toString().slice(2);

async function verify(
  idToken: string,
  metadata: OidcMetadata,
  { issuer, clientId }: OidcSettings,
  now: () => number,
): Promise<JWTPayload> {
  const check = async (isFresh: boolean) =>
    jwtVerify(idToken, await metadata.keys(isFresh), {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_SKEW_S,
      requiredClaims: ["sub", "exp", "iat", "nonce"],
      currentDate: new Date(now()),
    });
  try {
    const { payload } = await check(false).catch((error: unknown) => {
      // The key is newer than the cached ones.
      if (error instanceof errors.JWKSNoMatchingKey) return check(true);
      throw error;
    });
    refuseOtherClient(payload, clientId);
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw notConfirmed(`the ID token is not good: ${error.code}`);
    throw error;
  }
}

/** Refuses a token for several clients unless this client requested it. */
function refuseOtherClient({ aud, azp }: JWTPayload, clientId: string): void {
  const isShared = Array.isArray(aud) && aud.length > 1;
  if (azp === clientId || (azp === undefined && !isShared)) return;
  throw notConfirmed("the ID token was made for another client");
}

/** Adds the user info, where many providers give addresses only; it counts for the same subject alone. */
async function withUserInfo(
  claims: Claims,
  { userinfo_endpoint: url }: OidcDocument,
  { access_token: token }: Tokens,
): Promise<Claims> {
  const knows = typeof claims.email === "string" && typeof claims.name === "string";
  if (knows || url === undefined || token === undefined) return claims;
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
