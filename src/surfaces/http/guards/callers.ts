/**
 * Identifies callers of HTTP requests and socket upgrades alike. A bearer header overrides cookies; a cookie
 * counts only together with the key of the page it was given to, and only for requests that no foreign page
 * sends.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#base/clock.ts";
import { addressGroup } from "#base/net/address-group.ts";
import { Refusal } from "#base/refusal.ts";
import { type Principal, partyOf } from "#engine/index.ts";
import { PAGE_KEY_HEADER, PERSON_HEADER, pageKeyIn, SIGNED_OUT } from "#protocol/page-key.ts";
import { refuseOrigin } from "./guard.ts";
import { createRateLimiter } from "./rate-limit.ts";

export interface Caller {
  principal: Principal;
  credentialId: string;
  kind: string;
  /** Null or absent: never. */
  expiresAt?: number | null;
}

/** Evidence of the page behind a request. */
interface PageClaim {
  key: string | undefined;
  isBrowser: boolean;
}

export interface Authenticator {
  /** `any`: for content that is no secret, a cookie is enough. */
  authenticate(secret: string, page: PageClaim | "any"): Promise<Caller | undefined>;
  /** True for the cookie of a browser that was signed out; false for one that has expired. */
  wasSignedOut(secret: string): Promise<boolean>;
}

export interface CallerOptions {
  auth: Authenticator;
  clock: Clock;
  cookieName: () => string;
  /** Requests per second for each credential; 0 is off. */
  rateLimit: number;
}

/** The owner's own key runs benchmarks and scripts, so its limit is higher. */
export const OWNER_FACTOR = 20;
const BURST_FACTOR = 2;
/** Limit of a person's browsers, keys, agents and machines together. */
export const PARTY_FACTOR = 4;
const STRANGER_PER_SECOND = 10;
const STRANGER_BURST = 40;

export type Callers = ReturnType<typeof createCallers>;

export function createCallers({ auth, clock, cookieName, rateLimit }: CallerOptions) {
  const known = createRateLimiter(rateLimit, rateLimit * BURST_FACTOR);
  const owners = createRateLimiter(
    rateLimit * OWNER_FACTOR,
    rateLimit * OWNER_FACTOR * BURST_FACTOR,
  );
  const parties = createRateLimiter(
    rateLimit * PARTY_FACTOR,
    rateLimit * PARTY_FACTOR * BURST_FACTOR,
  );
  const strangers = createRateLimiter(rateLimit === 0 ? 0 : STRANGER_PER_SECOND, STRANGER_BURST);

  function slowDown(waitMs: number): void {
    if (waitMs > 0)
      throw new Refusal("limit", "rate_limited", "Too many requests. Wait, then send fewer.", {
        retryAfterMs: waitMs,
      });
  }

  /** Counts a request for its credential, and for the person behind it. */
  function count({ kind, credentialId, principal }: Caller): void {
    if (kind === "owner_key") slowDown(owners.take(credentialId, clock.now()));
    else {
      slowDown(known.take(credentialId, clock.now()));
      slowDown(parties.take(partyOf(principal), clock.now()));
    }
  }

  return {
    /** Counts a request without a credential. */
    stranger(address: string): void {
      slowDown(strangers.take(addressGroup(address), clock.now()));
    },

    /** True while a credential that opened a socket is valid, with unchanged rights. */
    async isStillGood(headers: IncomingHttpHeaders, caller: Caller): Promise<boolean> {
      const now = await firstGood(secretsOf(headers, cookieName()).secrets, pageClaim(headers));
      return now?.credentialId === caller.credentialId && rightsOf(now) === rightsOf(caller);
    },

    async identify(
      headers: IncomingHttpHeaders,
      address: string,
      changes: boolean,
      /** True for the API's own documentation, which a browser opens as a page. */
      isDocumentation = false,
    ): Promise<Caller> {
      const { secrets, fromCookie } = secretsOf(headers, cookieName());
      if (secrets.length > 0) {
        if (fromCookie) checkOrigin(headers, changes);
        const page = isDocumentation ? "any" : pageClaim(headers);
        const caller = await firstGood(secrets, page);
        if (caller) {
          count(caller);
          requireSamePerson(headers, caller);
          return caller;
        }
      }
      slowDown(strangers.take(addressGroup(address), clock.now()));
      throw fromCookie ? await browserRefusal(secrets) : noKey();
    },
  };

  async function browserRefusal(secrets: readonly string[]): Promise<Refusal> {
    let isSignedOut = false;
    for (const secret of secrets) isSignedOut ||= await auth.wasSignedOut(secret);
    return new Refusal(
      "unauthenticated",
      "unauthenticated",
      "This browser is no longer signed in, or not at this address. Sign in again.",
      isSignedOut ? { details: [{ path: SIGNED_OUT, message: "it was signed out" }] } : {},
    );
  }

  async function firstGood(
    secrets: readonly string[],
    page: PageClaim | "any",
  ): Promise<Caller | undefined> {
    for (const secret of secrets) {
      const caller = await auth.authenticate(secret, page);
      if (caller) return caller;
    }
    return undefined;
  }

  /** The guard has refused foreign origins; here, a page must name our own. */
  function checkOrigin(headers: IncomingHttpHeaders, changes: boolean): void {
    const { origin } = headers;
    const site = headers["sec-fetch-site"];
    const foreign = site === "cross-site" || site === "same-site";
    if (foreign || (origin === undefined && changes)) throw refuseOrigin();
  }
}

function noKey(): Refusal {
  return new Refusal(
    "unauthenticated",
    "unauthenticated",
    "Send a key as `Authorization: Bearer <key>` (the owner's is in owner.key in the data folder), or sign in.",
  );
}

/** Tabs share one sign-in: one person's text must not be sent as another's. */
function requireSamePerson(headers: IncomingHttpHeaders, { principal }: Caller): void {
  const claimedUserId = headers[PERSON_HEADER];
  if (
    claimedUserId === undefined ||
    (principal.kind === "user" && principal.userId === claimedUserId)
  )
    return;
  throw new Refusal(
    "conflict",
    "person_changed",
    "Somebody else is signed in now, so nothing was done. Sign in as the person who wrote this, then send it again.",
  );
}

/** The page's key, and whether a browser made the request: programs send no origin. */
export function pageClaim(headers: IncomingHttpHeaders): PageClaim {
  const header = headers[PAGE_KEY_HEADER];
  const key = pageKeyIn(
    Array.isArray(header) ? header[0] : header,
    headers["sec-websocket-protocol"],
  );
  return { key, isBrowser: headers["sec-fetch-site"] !== undefined };
}

/** Rights as one string, for comparison. */
function rightsOf({ principal }: Caller): string {
  return principal.kind === "user"
    ? `${principal.role} ${principal.scopes.join(" ")}`
    : principal.kind;
}

/** Secret in a browser's cookie, valid or not. */
export function cookieSecret(cookie: string | undefined, cookieName: string): string | undefined {
  return cookieValues(cookie, cookieName)[0];
}

/**
 * Limit of same-named cookies to check. Any other server on this machine can set one of our name with a
 * narrower path, which browsers send before ours; it must not hide ours.
 */
const MAX_OF_A_NAME = 4;

function secretsOf(
  { authorization, cookie }: IncomingHttpHeaders,
  cookieName: string,
): { secrets: readonly string[]; fromCookie: boolean } {
  if (authorization !== undefined) {
    const secret = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization)?.[1];
    return { secrets: secret === undefined ? [] : [secret], fromCookie: false };
  }
  const secrets = cookieValues(cookie, cookieName);
  return { secrets, fromCookie: secrets.length > 0 };
}

function cookieValues(cookie: string | undefined, cookieName: string): string[] {
  const values: string[] = [];
  for (const part of (cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    const isNamed = at > 0 && part.slice(0, at).trim() === cookieName;
    if (isNamed && values.length < MAX_OF_A_NAME) values.push(part.slice(at + 1).trim());
  }
  return values;
}
