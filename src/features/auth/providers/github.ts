/** GitHub, or a GitHub server of one's own: OAuth with PKCE, then the identity of the token's owner. */
import * as z from "zod";
import { askProvider, oauthError } from "./ask-provider.ts";
import { challengeOf } from "./challenge.ts";
import { plainName, verifiedEmail } from "./claims.ts";
import { problem } from "./problems.ts";
import type { Identity, SignInProvider } from "./provider.ts";

export interface GithubSettings {
  clientId: string;
  clientSecret: string;
  url: string;
  apiUrl: string;
}

const tokenSchema = z.object({ access_token: z.string().min(1).max(2_000) });
const userSchema = z.object({
  id: z.int().positive(),
  login: z.string().min(1).max(100),
  name: z.string().nullish(),
});
const emailsSchema = z
  .array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))
  .max(1_000);

export function createGithub({
  clientId,
  clientSecret,
  url,
  apiUrl,
}: GithubSettings): SignInProvider {
  return {
    id: "github",
    name: "GitHub",
    issuer: url,

    async authorizeUrl({ state, verifier, redirectUri }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: "read:user user:email",
        state,
        code_challenge: challengeOf(verifier),
        code_challenge_method: "S256",
      });
      return `${url}/login/oauth/authorize?${query}`;
    },

    async identify({ code }, { verifier, redirectUri }) {
      const { json } = await askProvider(`${url}/login/oauth/access_token`, {
        form: {
          client_id: clientId,
          client_secret: clientSecret,
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
      });
      const token = tokenSchema.safeParse(json);
      // GitHub reports errors with status 200.
      if (!token.success)
        throw problem("identity_not_confirmed", `GitHub gave no token: ${oauthError(json)}`);
      return readIdentity(apiUrl, token.data.access_token);
    },
  };
}

/** Reads the identity. The token is used for this alone and not kept. */
async function readIdentity(apiUrl: string, token: string): Promise<Identity> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
  };
  const user = userSchema.safeParse((await askProvider(`${apiUrl}/user`, { headers })).json);
  if (!user.success)
    throw problem("identity_not_confirmed", "GitHub did not say whose the token is");
  const listed = await askProvider(`${apiUrl}/user/emails?per_page=100`, { headers });
  const emails = emailsSchema.safeParse(listed.json);
  const { id, login, name } = user.data;
  return {
    subject: String(id),
    label: plainName(login) ?? "GitHub account",
    name: plainName(name) ?? plainName(login) ?? "GitHub user",
    emails: emails.success ? verifiedOf(emails.data) : [],
  };
}

function verifiedOf(listed: z.infer<typeof emailsSchema>): string[] {
  return listed
    .filter(({ verified }) => verified)
    .sort((a, b) => Number(b.primary) - Number(a.primary))
    .map(({ email }) => verifiedEmail(email))
    .filter((email) => email !== undefined && !email.endsWith("@users.noreply.github.com"))
    .filter((email) => email !== undefined);
}
