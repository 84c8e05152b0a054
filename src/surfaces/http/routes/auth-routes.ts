/** Signing in and out, joining, and one's own account: what sets cookies, or needs to know the credential. */
import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import {
  type ApiKey,
  apiKeySchema,
  emailSchema,
  KEY_SCOPES,
  localeSchema,
  type Me,
  meSchema,
  passwordSchema,
  personNameSchema,
  timezoneSchema,
  type User,
  userSchema,
} from "#features/auth/contract.ts";
import { pageOf } from "#protocol/page.ts";
import { type App, userOf } from "../app.ts";
import { type Caller, pageClaim } from "../callers.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";
import {
  type CookieJar,
  type CookieSettings,
  cookieJar,
  type Opened,
  type Visit,
} from "./cookie-jar.ts";
import { accountOf, type ProviderSignIn, providerRoutes } from "./provider-routes.ts";

const TAG = "You";

type Person = ReturnType<typeof userOf>;
type Maker = Pick<Caller, "credentialId" | "kind">;

/** What the routes need of sign-in; the features that have it are handed in. */
export interface SignIn extends ProviderSignIn {
  signIn(given: z.infer<typeof proof>, visit: Visit): Promise<Opened>;
  inspectLink(token: string): Promise<Omit<z.infer<typeof inspectedLink>, "current">>;
  authenticate(
    secret: string,
    page: ReturnType<typeof pageClaim>,
  ): Promise<Pick<Caller, "principal"> | undefined>;
  signOut(credentialId: string): Promise<void>;
  signOutEverywhere(userId: string): Promise<void>;
  createLink(
    userId: string,
    scopes: readonly string[],
    maker: Maker,
  ): Promise<{ token: string; expiresAt: number }>;
  acceptInvitation(
    token: string,
    person: z.infer<typeof joining>,
    visit: Visit,
  ): Promise<{ user: User; opened: Opened }>;
  me(principal: Person): Promise<Me>;
  changeProfile(userId: string, change: z.infer<typeof profile>): Promise<User>;
  changePassword(
    principal: Person,
    maker: Maker,
    visit: Visit,
    change: z.infer<typeof passwordChange>,
  ): Promise<{ user: User; opened: Opened | undefined }>;
  createApiKey(
    by: Person,
    maker: Maker,
    key: { name: string; scopes: readonly string[]; expiresAt?: number | undefined },
  ): Promise<{ apiKey: ApiKey; key: string }>;
  listApiKeys(userId: string): Promise<ApiKey[]>;
  revokeApiKey(userId: string, id: string): Promise<ApiKey>;
}

/** Longer than any password there is, and not worth hashing. */
const givenPassword = z.string().min(1).max(256);
const proof = z.union([
  z.strictObject({ token: line(500).min(1) }),
  z.strictObject({ key: line(500).min(1) }),
  z.strictObject({ email: emailSchema, password: givenPassword }),
]);
const named = z.object({ id: z.string(), name: z.string() });
const inspectedLink = z.object({
  user: named,
  /** The person who is signed in at this page now. */
  current: named.nullable(),
  /** Whether the person is to be asked before it is used, also where nobody is signed in. */
  needsConsent: z.boolean(),
});
const joining = z.strictObject({
  name: personNameSchema,
  email: emailSchema,
  password: passwordSchema,
  timezone: timezoneSchema.optional(),
  locale: localeSchema.optional(),
});
const profile = z.strictObject({
  name: personNameSchema.optional(),
  timezone: timezoneSchema.optional(),
  locale: localeSchema.optional(),
});
const passwordChange = z.strictObject({
  currentPassword: givenPassword.optional(),
  newPassword: passwordSchema,
  email: emailSchema.optional(),
});
const newKey = z.strictObject({
  name: line(100).min(1),
  scopes: z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
});

export function authRoutes(app: App, auth: SignIn, cookie: CookieSettings): void {
  const cookies = cookieJar(cookie);
  signInRoutes(app, auth, cookies);
  linkRoute(app, auth, cookie);
  profileRoutes(app, auth, cookies);
  keyRoutes(app, auth);
  providerRoutes(app, auth, cookies);
}

function signInRoutes(app: App, auth: SignIn, cookies: CookieJar): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/sign-in",
      summary: "Sign a browser in: with e-mail and password, a one-time link's token, or a key",
      tag: TAG,
      body: proof,
      response: z.object({}),
    },
    async ({ c, body }) => {
      cookies.give(c, await auth.signIn(body, cookies.visit(c)));
      return {};
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/links/inspect",
      summary: "Whom a one-time link would sign in; it is not used up",
      tag: TAG,
      body: z.strictObject({ token: line(500).min(1) }),
      response: inspectedLink,
    },
    async ({ c, body: { token } }) => {
      const link = await auth.inspectLink(token);
      const { replaces } = cookies.visit(c);
      const page = pageClaim(c.env.incoming.headers);
      const caller = replaces === undefined ? undefined : await auth.authenticate(replaces, page);
      const { principal } = caller ?? {};
      const current =
        principal?.kind === "user" ? { id: principal.userId, name: principal.name } : null;
      return { ...link, current };
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/invitations/{token}/accept",
      summary: "Join with an invitation, and sign in",
      tag: TAG,
      body: joining,
      status: 201,
      response: z.object({ user: userSchema }),
    },
    async ({ c, body }) => {
      const token = requireId(c.req.param("token"), "invitation");
      const { user, opened } = await auth.acceptInvitation(token, body, cookies.visit(c));
      cookies.give(c, opened);
      return { user };
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
      // A machine or an agent is signed in nowhere; a "yes" would tell it that its token is void.
      userOf(c);
      const { kind, credentialId } = c.get("caller");
      if (kind === "cookie") await auth.signOut(credentialId);
      cookies.take(c);
      return {};
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/sign-out-everywhere",
      summary: "Sign all your browsers out; your keys stay",
      tag: TAG,
      body: z.strictObject({}),
      response: z.object({}),
    },
    async ({ c }) => {
      await auth.signOutEverywhere(accountOf(c).userId);
      cookies.take(c);
      return {};
    },
  );
}

function linkRoute(app: App, auth: SignIn, { baseUrl }: CookieSettings): void {
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
      const { token, expiresAt } = await auth.createLink(userId, scopes, c.get("caller"));
      return {
        link: `${baseUrl()}/sign-in#token=${token}`,
        expiresAt: new Date(expiresAt).toISOString(),
      };
    },
  );
}

function profileRoutes(app: App, auth: SignIn, cookies: CookieJar): void {
  endpoint(
    app,
    { method: "get", path: "/api/me", summary: "Who you are", tag: TAG, response: meSchema },
    async ({ c }) => auth.me(userOf(c)),
  );
  endpoint(
    app,
    {
      method: "patch",
      path: "/api/me",
      summary: "Change your name, time zone or language",
      tag: TAG,
      body: profile,
      response: z.object({ user: userSchema }),
    },
    async ({ c, body }) => ({ user: await auth.changeProfile(accountOf(c).userId, body) }),
  );
  endpoint(
    app,
    {
      method: "put",
      path: "/api/me/password",
      summary: "Set or change your password; your other browsers are signed out",
      tag: TAG,
      body: passwordChange,
      response: z.object({ user: userSchema }),
    },
    async ({ c, body }) => {
      const person = accountOf(c);
      const changed = await auth.changePassword(person, c.get("caller"), cookies.visit(c), body);
      if (changed.opened) cookies.give(c, changed.opened);
      return { user: changed.user };
    },
  );
}

function keyRoutes(app: App, auth: SignIn): void {
  const one = z.object({ apiKey: apiKeySchema });
  endpoint(
    app,
    {
      method: "post",
      path: "/api/me/api-keys",
      summary: "A new key for a program; it is shown once",
      tag: TAG,
      body: newKey,
      status: 201,
      response: one.extend({ key: z.string() }),
    },
    async ({ c, body: { name, scopes, expiresAt } }) =>
      auth.createApiKey(accountOf(c), c.get("caller"), {
        name,
        scopes,
        expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
      }),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/me/api-keys",
      summary: "Your keys, and when they were last used",
      tag: TAG,
      response: pageOf(apiKeySchema),
    },
    async ({ c }) => ({ items: await auth.listApiKeys(accountOf(c).userId), next: null }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/me/api-keys/{id}",
      summary: "Revoke a key, and all that was made with it",
      tag: TAG,
      response: one,
    },
    async ({ c }) => {
      const { userId } = accountOf(c);
      const id = requireId(c.req.param("id"), "key");
      return { apiKey: await auth.revokeApiKey(userId, id) };
    },
  );
}
