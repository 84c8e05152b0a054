/**
 * Signing in through somebody else's service. Browsers are sent away and come back by plain links,
 * so these answer with pages to go to; what changes something begins with a POST of our own page.
 */
import type { Context } from "hono";
import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import { requireMay } from "#engine/index.ts";
import {
  type LinkedAccount,
  linkedAccountSchema,
  type OfferedProvider,
  offeredProviderSchema,
} from "#features/auth/contract.ts";
import { pageOf } from "#protocol/page.ts";
import { type App, type AppEnv, addressOf, userOf } from "../app.ts";
import { type Caller, pageClaim } from "../callers.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";
import type { CookieJar, Opened, Visit } from "./cookie-jar.ts";

const TAG = "You";

type Person = ReturnType<typeof userOf>;
type Maker = Pick<Caller, "credentialId" | "kind">;
/** Where to send the browser, and what it has to keep until it is back. */
interface Begun {
  url: string;
  flow: string;
  /** By which it is known again. */
  state: string;
}
interface Landing {
  /** On this server. */
  path: string;
  opened: Opened | undefined;
}

export interface ProviderSignIn {
  offeredProviders(): OfferedProvider[];
  startSignIn(provider: string, next: string | undefined, visit: Visit): Promise<Begun | Landing>;
  startJoin(provider: string, invitation: string, visit: Visit): Promise<Begun>;
  startLink(
    provider: string,
    by: Person,
    maker: Maker,
    visit: Visit,
    currentPassword: string | undefined,
  ): Promise<Begun>;
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
  ): Promise<{ account: LinkedAccount; opened: Opened | undefined }>;
}

/** A provider may send more than we know, and an attacker anything: what does not fit is not there. */
const said = (max: number) => z.string().max(max).optional().catch(undefined);
const started = z.object({ url: z.string() });
const redirected = z.unknown();

export function providerRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/auth/providers",
      summary: "Services that one can sign in through",
      tag: TAG,
      response: pageOf(offeredProviderSchema),
    },
    async () => ({ items: auth.offeredProviders(), next: null }),
  );
  startRoutes(app, auth, cookies);
  callbackRoute(app, auth, cookies);
  accountRoutes(app, auth, cookies);
}

function startRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  const send = (c: Context<AppEnv>, { url, flow, state }: Begun) => {
    cookies.giveFlow(c, state, flow);
    return { url };
  };
  endpoint(
    app,
    {
      method: "get",
      path: "/api/auth/{provider}/start",
      summary:
        "Sends a program to the service (302), and a browser to the sign-in page; `next` is the page to come back to",
      tag: TAG,
      query: z.object({ next: said(2_000) }),
      response: redirected,
    },
    async ({ c, query: { next } }) => {
      // A link cannot carry the key of a page; the page begins with a POST.
      if (pageClaim(c.env.incoming.headers).isBrowser) return c.redirect("/sign-in", 302);
      const begun = await auth.startSignIn(providerIn(c), next, cookies.visit(c));
      if ("path" in begun) return c.redirect(begun.path, 302);
      return c.redirect(send(c, begun).url, 302);
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/{provider}/start",
      summary:
        "Begins to sign in, or to join with an invitation; the browser goes on to the address it is given",
      tag: TAG,
      body: z.union([
        z.strictObject({ invitation: line(500).min(1) }),
        z.strictObject({ next: line(2_000) }),
      ]),
      response: started,
    },
    async ({ c, body }) => {
      const visit = cookies.visit(c);
      if ("invitation" in body)
        return send(c, await auth.startJoin(providerIn(c), body.invitation, visit));
      const begun = await auth.startSignIn(providerIn(c), body.next, visit);
      return "path" in begun ? { url: begun.path } : send(c, begun);
    },
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/auth/{provider}/link",
      summary: "Begins to link an account to yours; the browser goes on to the address it is given",
      tag: TAG,
      body: z.strictObject({ currentPassword: z.string().min(1).max(256).optional() }),
      response: started,
    },
    async ({ c, body: { currentPassword } }) => {
      const person = accountOf(c);
      const maker = c.get("caller");
      const visit = cookies.visit(c);
      const begun = auth.startLink(providerIn(c), person, maker, visit, currentPassword);
      return send(c, await begun);
    },
  );
}

function callbackRoute(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/auth/{provider}/callback",
      summary: "Where the service sends the browser back to; goes on to a page (302)",
      tag: TAG,
      query: z.object({ state: said(200), code: said(4_096), error: said(200), iss: said(500) }),
      response: redirected,
    },
    async ({ c, query: { state, code, error, iss } }) => {
      const flow = state === undefined ? undefined : cookies.presentFlow(c, state);
      const address = addressOf(c);
      const back = { state, code, error, iss, flow, address };
      const { path, opened } = await auth.finishSignIn(providerIn(c), back);
      // Of this round alone: another tab may be on its way too.
      if (state !== undefined && flow !== undefined) cookies.takeFlow(c, state);
      if (opened) cookies.give(c, opened);
      return c.redirect(path, 302);
    },
  );
}

function accountRoutes(app: App, auth: ProviderSignIn, cookies: CookieJar): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/me/accounts",
      summary: "Accounts elsewhere that you sign in with",
      tag: TAG,
      response: pageOf(linkedAccountSchema),
    },
    async ({ c }) => ({ items: await auth.listLinkedAccounts(accountOf(c).userId), next: null }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/me/accounts/{id}",
      summary: "Unlink an account; your other browsers are signed out",
      tag: TAG,
      response: z.object({ account: linkedAccountSchema }),
    },
    async ({ c }) => {
      const id = requireId(c.req.param("id"), "account");
      const visit = cookies.visit(c);
      const unlinked = await auth.unlinkAccount(accountOf(c), c.get("caller"), visit, id);
      if (unlinked.opened) cookies.give(c, unlinked.opened);
      return { account: unlinked.account };
    },
  );
}

const providerIn = (c: Context<AppEnv>) => requireId(c.req.param("provider"), "sign-in service");

/** A person whose credential reaches their own account. */
export function accountOf(c: Context<AppEnv>): Person {
  const person = userOf(c);
  requireMay(person, "account.manage");
  return person;
}
