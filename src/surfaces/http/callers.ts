/**
 * Who is calling, for HTTP requests and socket upgrades alike. A bearer header makes cookies
 * ignored; a cookie counts only for requests that do not come from a foreign page.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#base/clock.ts";
import { Refusal } from "#base/refusal.ts";
import type { Principal } from "#engine/index.ts";
import { refuseOrigin } from "./guard.ts";
import { createRateLimiter } from "./rate-limit.ts";

export interface Caller {
  principal: Principal;
  credentialId: string;
  kind: string;
  /** Null or absent: never. */
  expiresAt?: number | null;
}

export interface Authenticator {
  authenticate(secret: string): Promise<Caller | undefined>;
}

export interface CallerOptions {
  auth: Authenticator;
  clock: Clock;
  cookieName: () => string;
  /** Requests a second for each credential; 0 is off. */
  rateLimit: number;
}

/** The owner's own key drives benches and scripts; it gets more room than others. */
const OWNER_FACTOR = 20;
const BURST_FACTOR = 2;
const STRANGER_PER_SECOND = 10;
const STRANGER_BURST = 40;

export type Callers = ReturnType<typeof createCallers>;

export function createCallers({ auth, clock, cookieName, rateLimit }: CallerOptions) {
  const known = createRateLimiter(rateLimit, rateLimit * BURST_FACTOR);
  const owners = createRateLimiter(
    rateLimit * OWNER_FACTOR,
    rateLimit * OWNER_FACTOR * BURST_FACTOR,
  );
  const strangers = createRateLimiter(rateLimit === 0 ? 0 : STRANGER_PER_SECOND, STRANGER_BURST);

  function slowDown(waitMs: number): void {
    if (waitMs > 0)
      throw new Refusal(
        "limit",
        "rate_limited",
        "Too many requests. Wait, then go on more slowly.",
        { retryAfterMs: waitMs },
      );
  }

  return {
    /** Counts a request of nobody in particular. */
    stranger(address: string): void {
      slowDown(strangers.take(address, clock.now()));
    },

    /** Whether a credential that opened a socket may keep it: it is there, and may do what it could. */
    async isStillGood(headers: IncomingHttpHeaders, caller: Caller): Promise<boolean> {
      const { secret } = secretOf(headers, cookieName());
      if (secret === undefined) return false;
      const now = await auth.authenticate(secret);
      return now?.credentialId === caller.credentialId && rightsOf(now) === rightsOf(caller);
    },

    async identify(
      headers: IncomingHttpHeaders,
      address: string,
      changes: boolean,
    ): Promise<Caller> {
      const { secret, fromCookie } = secretOf(headers, cookieName());
      if (secret !== undefined) {
        if (fromCookie) checkOrigin(headers, changes);
        const caller = await auth.authenticate(secret);
        if (caller) {
          slowDown(
            (caller.kind === "owner_key" ? owners : known).take(caller.credentialId, clock.now()),
          );
          return caller;
        }
      }
      slowDown(strangers.take(address, clock.now()));
      throw new Refusal(
        "unauthenticated",
        "unauthenticated",
        "Send a key as `Authorization: Bearer <key>` (the owner's is in owner.key of the data folder), or sign in.",
      );
    },
  };

  /** Foreign origins were refused at the door; here, a page must say that it is ours at all. */
  function checkOrigin(headers: IncomingHttpHeaders, changes: boolean): void {
    const { origin } = headers;
    const site = headers["sec-fetch-site"];
    const foreign = site === "cross-site" || site === "same-site";
    if (foreign || (origin === undefined && changes)) throw refuseOrigin();
  }
}

/** In one word, to compare. */
function rightsOf({ principal }: Caller): string {
  return principal.kind === "user"
    ? `${principal.role} ${principal.scopes.join(" ")}`
    : principal.kind;
}

/** What a browser came with, whether it is good or not. */
export function cookieSecret(cookie: string | undefined, cookieName: string): string | undefined {
  return secretOf(cookie === undefined ? {} : { cookie }, cookieName).secret;
}

function secretOf(
  headers: IncomingHttpHeaders,
  cookieName: string,
): { secret: string | undefined; fromCookie: boolean } {
  const { authorization, cookie } = headers;
  if (authorization !== undefined) {
    const match = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization);
    return { secret: match?.[1], fromCookie: false };
  }
  for (const part of (cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === cookieName)
      return { secret: part.slice(at + 1).trim(), fromCookie: true };
  }
  return { secret: undefined, fromCookie: false };
}
