/** Cookies of browsers: the session, and one for each sign-in under way. */
import { hash } from "node:crypto";
import type { Context } from "hono";
import { Refusal } from "#base/refusal.ts";
import { type AppEnv, addressOf } from "../app.ts";
import { cookieSecret, pageClaim } from "../guards/callers.ts";

/** Browsers accept this prefix only over HTTPS, for this very host and all its paths. */
const HOST_PREFIX = "__Host-";

/** Cookies ignore ports, so the name contains it: otherwise two servers on a machine would share one. */
export const cookieNameFor = (port: number, secure: boolean) =>
  `${secure ? HOST_PREFIX : ""}muster_${port}`;

export interface CookieSettings {
  name: () => string;
  secure: boolean;
  baseUrl: () => string;
}

export interface OpenedBrowser {
  cookie: string;
  expiresAt: number;
  browserMark: string | undefined;
}

/** The browser, or the program, that signs in. */
export interface Visit {
  address: string;
  replaces: string | undefined;
  pageKey: string | undefined;
  browserMark: string | undefined;
}

export interface CookieJar {
  give(c: Context<AppEnv>, opened: OpenedBrowser): void;
  take(c: Context<AppEnv>): void;
  /** Refuses a browser whose page has no key: its session could not be bound to the page. */
  visit(c: Context<AppEnv>): Visit;
  /** Secret of a sign-in while the browser is at a provider; each tab may have one. */
  giveFlow(c: Context<AppEnv>, state: string, flow: string): void;
  takeFlow(c: Context<AppEnv>, state: string): void;
  presentFlow(c: Context<AppEnv>, state: string): string | undefined;
}

/** Lifetime of a flow at the server. */
const FLOW_SECONDS = 600;
/** Concurrent flows; a further one drops the oldest. */
const MAX_FLOWS = 6;
/** Longest time that browsers keep a cookie. */
const MARK_SECONDS = 400 * 24 * 60 * 60;

export function cookieJar({ name, secure }: CookieSettings): CookieJar {
  const end = secure ? "; Secure" : "";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${end}`;
  // Lax, because a foreign page sends the browser back; no other request carries the cookie.
  const flowAttributes = `Path=/${secure ? "" : "api/auth"}; HttpOnly; SameSite=Lax${end}`;
  const markName = () => `${name()}_known`;
  const flowPrefix = () => `${name()}_flow_`;
  const flowName = (state: string) => flowPrefix() + hash("sha256", state, "hex").slice(0, 12);
  // Set on Node's own response, so that every kind of response has them; one response may set both.
  const set = (c: Context<AppEnv>, value: string) =>
    void c.env.outgoing.appendHeader("Set-Cookie", value);
  return {
    give(c, { cookie: secret, expiresAt, browserMark }) {
      const until = new Date(expiresAt).toUTCString();
      set(c, `${name()}=${secret}; ${attributes}; Expires=${until}`);
      if (browserMark !== undefined)
        set(c, `${markName()}=${browserMark}; ${attributes}; Max-Age=${MARK_SECONDS}`);
      dropFormer(c);
    },
    take(c) {
      set(c, `${name()}=; ${attributes}; Max-Age=0`);
      dropFormer(c);
    },
    visit(c) {
      const cookie = c.req.header("cookie");
      const { key: pageKey, isBrowser } = pageClaim(c.env.incoming.headers);
      if (isBrowser && pageKey === undefined) throw noPageKey();
      return {
        address: addressOf(c),
        replaces: cookieSecret(cookie, name()),
        pageKey,
        browserMark: cookieSecret(cookie, markName()),
      };
    },
    giveFlow(c, state, flow) {
      // Browsers send the oldest first.
      const others = cookieNames(c.req.header("cookie")).filter((other) => isFlow(other));
      for (const old of others.slice(0, Math.max(0, others.length - MAX_FLOWS + 1))) drop(c, old);
      set(c, `${flowName(state)}=${flow}; ${flowAttributes}; Max-Age=${FLOW_SECONDS}`);
    },
    takeFlow: (c, state) => drop(c, flowName(state)),
    presentFlow: (c, state) => cookieSecret(c.req.header("cookie"), flowName(state)),
  };

  /** Drops the name from before HTTPS was set up, or from an older version: nothing is read under it. */
  function dropFormer(c: Context<AppEnv>): void {
    const former = name().replace(HOST_PREFIX, "");
    if (former !== name() && cookieNames(c.req.header("cookie")).includes(former))
      set(c, `${former}=; ${attributes}; Max-Age=0`);
  }
  /** A response may name only cookies that we have named ourselves. */
  function isFlow(other: string): boolean {
    return (
      other.startsWith(flowPrefix()) && /^[0-9a-f]{12}$/.test(other.slice(flowPrefix().length))
    );
  }
  function drop(c: Context<AppEnv>, flow: string): void {
    set(c, `${flow}=; ${flowAttributes}; Max-Age=0`);
  }
}

function noPageKey(): Refusal {
  return new Refusal(
    "invalid",
    "page_key_missing",
    "This page is from an older version or may not store data. Reload it, allow it to store data, and sign in again.",
  );
}

function cookieNames(header: string | undefined): string[] {
  return (header ?? "").split(";").map((part) => part.split("=", 1)[0]?.trim() ?? "");
}
