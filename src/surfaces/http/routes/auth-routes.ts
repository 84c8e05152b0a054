import * as z from "zod";
import { type App, userOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { line } from "../input.ts";

const TAG = "You";

/** What the routes need of sign-in; the feature that has it is handed in. */
export interface SignIn {
  signIn(
    proof: { token: string } | { key: string },
  ): Promise<{ cookie: string; expiresAt: number }>;
  signOut(credentialId: string): Promise<void>;
  createLink(
    userId: string,
    scopes: readonly string[],
  ): Promise<{ token: string; expiresAt: number }>;
  me(principal: ReturnType<typeof userOf>): Promise<unknown>;
}

export interface CookieSettings {
  name: () => string;
  secure: boolean;
  baseUrl: () => string;
}

const proof = z.union([
  z.strictObject({ token: line(500).min(1) }),
  z.strictObject({ key: line(500).min(1) }),
]);

export function authRoutes(app: App, auth: SignIn, cookie: CookieSettings): void {
  const attributes = `Path=/; HttpOnly; SameSite=Strict${cookie.secure ? "; Secure" : ""}`;
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/sign-in",
      summary: "Sign a browser in with a one-time link's token, or a key",
      tag: TAG,
      body: proof,
      response: z.object({}),
    },
    async ({ c, body }) => {
      const { cookie: secret, expiresAt } = await auth.signIn(body);
      c.env.outgoing.setHeader(
        "Set-Cookie",
        `${cookie.name()}=${secret}; ${attributes}; Expires=${new Date(expiresAt).toUTCString()}`,
      );
      return {};
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/sign-out",
      summary: "Sign this browser out",
      tag: TAG,
      body: z.strictObject({}),
      response: z.object({}),
    },
    async ({ c }) => {
      const { kind, credentialId } = c.get("caller");
      if (kind === "cookie") await auth.signOut(credentialId);
      c.env.outgoing.setHeader("Set-Cookie", `${cookie.name()}=; ${attributes}; Max-Age=0`);
      return {};
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/links",
      summary: "A new one-time sign-in link for yourself",
      tag: TAG,
      body: z.strictObject({}),
      status: 201,
      response: z.object({ link: z.string(), expiresAt: z.string() }),
    },
    async ({ c }) => {
      const { userId, scopes } = userOf(c);
      const { token, expiresAt } = await auth.createLink(userId, scopes);
      return {
        link: `${cookie.baseUrl()}/sign-in#token=${token}`,
        expiresAt: new Date(expiresAt).toISOString(),
      };
    },
  );
  endpoint(
    app,
    { method: "get", path: "/api/me", summary: "Who you are", tag: TAG, response: z.unknown() },
    async ({ c }) => auth.me(userOf(c)),
  );
}
