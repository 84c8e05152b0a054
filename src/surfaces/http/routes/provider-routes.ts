/**
 * Sign-in through another service. Browsers leave and come back by plain links, so these routes respond with
 * redirects; every change begins with a POST of our own page.
 */
import type { Context } from "hono";
import { requireMay } from "#engine/index.ts";
import { authApi, type LinkedAccount, meApi, type SignInOption } from "#features/auth/contract.ts";
import { type App, type AppEnv, addressOf, userOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { type Caller, pageClaim } from "../guards/callers.ts";
import { requireId } from "../input.ts";
import type { CookieJar, OpenedBrowser, Visit } from "./cookie-jar.ts";

type Person = ReturnType<typeof userOf>;
type Maker = Pick<Caller, "credentialId" | "kind">;
/** Address to send the browser to, and the secret it keeps until it is back. */
interface StartedFlow {
  url: string;
  flow: string;
  /** Identifies the flow. */
  state: string;
}
interface Landing {
  /** Path on this server. */
  path: string;
  opened: OpenedBrowser | undefined;
}

export interface ProviderSignIn {
  offeredProviders(): SignInOption[];
  startSignIn(
    provider: string,
    next: string | undefined,
    visit: Visit,
  ): Promise<StartedFlow | Landing>;
  startJoin(provider: string, invitation: string, visit: Visit): Promise<StartedFlow>;
  startLink(
    provider: string,
    by: Person,
    maker: Maker,
    visit: Visit,
    currentPassword: string | undefined,
  ): Promise<StartedFlow>;
  finishSignIn(
    provider: string,
    back: {
      state: string | undefined;
      code: string | undefined;
      error: string | undefined;
      iss: string | undefined;
      flow: string | undefined;
      address: string;
    },
  ): Promise<Landing>;
  listLinkedAccounts(userId: string): Promise<LinkedAccount[]>;
  unlinkAccount(
    by: Person,
    maker: Maker,
    visit: Visit,
    id: string,
  ): Promise<{ account: LinkedAccount; opened: OpenedBrowser | undefined }>;
}

export function providerRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(app, authApi.listProviders, async () => ({
    items: auth.offeredProviders(),
    next: null,
  }));
  startRoutes(app, auth, cookies);
  callbackRoute(app, auth, cookies);
  accountRoutes(app, auth, cookies);
}

function startRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  const send = (c: Context<AppEnv>, { url, flow, state }: StartedFlow) => {
    cookies.giveFlow(c, state, flow);
    return { url };
  };
  endpoint(app, authApi.redirectToProvider, async ({ c, query: { next } }) => {
    // A link cannot carry the key of a page; the page begins with a POST.
    if (pageClaim(c.env.incoming.headers).isBrowser) return c.redirect("/sign-in", 302);
    const begun = await auth.startSignIn(providerIn(c), next, cookies.visit(c));
    if ("path" in begun) return c.redirect(begun.path, 302);
    return c.redirect(send(c, begun).url, 302);
  });
  endpoint(app, authApi.startSignIn, async ({ c, body }) => {
    const visit = cookies.visit(c);
    if ("invitation" in body)
      return send(c, await auth.startJoin(providerIn(c), body.invitation, visit));
    const begun = await auth.startSignIn(providerIn(c), body.next, visit);
    return "path" in begun ? { url: begun.path } : send(c, begun);
  });
  endpoint(app, authApi.startLink, async ({ c, body: { currentPassword } }) => {
    const person = accountOf(c);
    const maker = c.get("caller");
    const visit = cookies.visit(c);
    const begun = auth.startLink(providerIn(c), person, maker, visit, currentPassword);
    return send(c, await begun);
  });
}

function callbackRoute(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(app, authApi.callback, async ({ c, query: { state, code, error, iss } }) => {
    const flow = state === undefined ? undefined : cookies.presentFlow(c, state);
    const address = addressOf(c);
    const back = { state, code, error, iss, flow, address };
    const { path, opened } = await auth.finishSignIn(providerIn(c), back);
    // Removes this flow alone: another tab may have one too.
    if (state !== undefined && flow !== undefined) cookies.takeFlow(c, state);
    if (opened) cookies.give(c, opened);
    return c.redirect(path, 302);
  });
}

function accountRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(app, meApi.listAccounts, async ({ c }) => ({
    items: await auth.listLinkedAccounts(accountOf(c).userId),
    next: null,
  }));
  endpoint(app, meApi.unlinkAccount, async ({ c }) => {
    const id = requireId(c.req.param("id"), "account");
    const visit = cookies.visit(c);
    const unlinked = await auth.unlinkAccount(accountOf(c), c.get("caller"), visit, id);
    if (unlinked.opened) cookies.give(c, unlinked.opened);
    return { account: unlinked.account };
  });
}

const providerIn = (c: Context<AppEnv>) => requireId(c.req.param("provider"), "sign-in service");

/** Requires a person whose credential allows access to their own account. */
export function accountOf(c: Context<AppEnv>): Person {
  const person = userOf(c);
  requireMay(person, "account.manage");
  return person;
}
