/**
 * Routes that set cookies or need the caller's credential: sign-in and sign-out, joining, the own account.
 */
import {
  type ApiKey,
  authApi,
  type InspectedLink,
  type JoinRequest,
  type Me,
  meApi,
  type PasswordChange,
  type ProfileChange,
  type SignInRequest,
  type User,
} from "#features/auth/contract.ts";
import { type App, userOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { type Caller, pageClaim } from "../guards/callers.ts";
import { requireId } from "../input.ts";
import {
  type CookieJar,
  type CookieSettings,
  cookieJar,
  type OpenedBrowser,
  type Visit,
} from "./cookie-jar.ts";
import { accountOf, type ProviderSignIn, providerRoutes } from "./provider-routes.ts";

type Person = ReturnType<typeof userOf>;
type Maker = Pick<Caller, "credentialId" | "kind">;

/** Operations that these routes need; main passes in the feature that provides them. */
export interface SignIn extends ProviderSignIn {
  signIn(given: SignInRequest, visit: Visit): Promise<OpenedBrowser>;
  inspectLink(token: string): Promise<Omit<InspectedLink, "current">>;
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
    person: JoinRequest,
    visit: Visit,
  ): Promise<{ user: User; opened: OpenedBrowser }>;
  me(principal: Person): Promise<Me>;
  changeProfile(userId: string, change: ProfileChange): Promise<User>;
  changePassword(
    principal: Person,
    maker: Maker,
    visit: Visit,
    change: PasswordChange,
  ): Promise<{ user: User; opened: OpenedBrowser | undefined }>;
  createApiKey(
    by: Person,
    maker: Maker,
    key: { name: string; scopes: readonly string[]; expiresAt?: number | undefined },
  ): Promise<{ apiKey: ApiKey; key: string }>;
  listApiKeys(userId: string): Promise<ApiKey[]>;
  revokeApiKey(userId: string, id: string): Promise<ApiKey>;
}

export function authRoutes(app: App, auth: SignIn, cookie: CookieSettings): void {
  const cookies = cookieJar(cookie);
  signInRoutes(app, auth, cookies);
  linkRoute(app, auth, cookie);
  profileRoutes(app, auth, cookies);
  keyRoutes(app, auth);
  providerRoutes(app, auth, cookies);
}

function signInRoutes(app: App, auth: SignIn, cookies: CookieJar): void {
  endpoint(app, authApi.signIn, async ({ c, body }) => {
    cookies.give(c, await auth.signIn(body, cookies.visit(c)));
    return {};
  });
  endpoint(app, authApi.inspectLink, async ({ c, body: { token } }) => {
    const link = await auth.inspectLink(token);
    const { replaces } = cookies.visit(c);
    const page = pageClaim(c.env.incoming.headers);
    const caller = replaces === undefined ? undefined : await auth.authenticate(replaces, page);
    const { principal } = caller ?? {};
    const current =
      principal?.kind === "user" ? { id: principal.userId, name: principal.name } : null;
    return { ...link, current };
  });
  endpoint(app, authApi.acceptInvitation, async ({ c, body }) => {
    const token = requireId(c.req.param("token"), "invitation");
    const { user, opened } = await auth.acceptInvitation(token, body, cookies.visit(c));
    cookies.give(c, opened);
    return { user };
  });
  endpoint(app, authApi.signOut, async ({ c }) => {
    // Machines and agents are signed in nowhere; success would suggest that their token is void.
    userOf(c);
    const { kind, credentialId } = c.get("caller");
    if (kind === "cookie") await auth.signOut(credentialId);
    cookies.take(c);
    return {};
  });
  endpoint(app, authApi.signOutEverywhere, async ({ c }) => {
    await auth.signOutEverywhere(accountOf(c).userId);
    cookies.take(c);
    return {};
  });
}

function linkRoute(app: App, auth: SignIn, { baseUrl }: CookieSettings): void {
  endpoint(app, authApi.createLink, async ({ c }) => {
    const { userId, scopes } = userOf(c);
    const { token, expiresAt } = await auth.createLink(userId, scopes, c.get("caller"));
    return {
      link: `${baseUrl()}/sign-in#token=${token}`,
      expiresAt: new Date(expiresAt).toISOString(),
    };
  });
}

function profileRoutes(app: App, auth: SignIn, cookies: CookieJar): void {
  endpoint(app, meApi.get, async ({ c }) => auth.me(userOf(c)));
  endpoint(app, meApi.update, async ({ c, body }) => ({
    user: await auth.changeProfile(accountOf(c).userId, body),
  }));
  endpoint(app, meApi.setPassword, async ({ c, body }) => {
    const person = accountOf(c);
    const changed = await auth.changePassword(person, c.get("caller"), cookies.visit(c), body);
    if (changed.opened) cookies.give(c, changed.opened);
    return { user: changed.user };
  });
}

function keyRoutes(app: App, auth: SignIn): void {
  endpoint(app, meApi.createApiKey, async ({ c, body: { name, scopes, expiresAt } }) =>
    auth.createApiKey(accountOf(c), c.get("caller"), {
      name,
      scopes,
      expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    }),
  );
  endpoint(app, meApi.listApiKeys, async ({ c }) => ({
    items: await auth.listApiKeys(accountOf(c).userId),
    next: null,
  }));
  endpoint(app, meApi.revokeApiKey, async ({ c }) => {
    const { userId } = accountOf(c);
    const id = requireId(c.req.param("id"), "key");
    return { apiKey: await auth.revokeApiKey(userId, id) };
  });
}
