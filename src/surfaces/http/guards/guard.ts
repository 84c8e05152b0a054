/**
 * First checks of every request: its Host, its Origin, and the size and shape of its body. None needs to know
 * the caller.
 */

import { Refusal } from "#base/refusal.ts";
import { type JsonBounds, requireJsonBounds } from "#base/text/json-bounds.ts";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Limit for unknown callers, whose requests are small. */
export const MAX_STRANGER_BODY_BYTES = 4 * 1024;
const JSON_BOUNDS: JsonBounds = { depth: 64, values: 50_000 };

export interface AllowedHosts {
  has(host: string): boolean;
}

/** Host names of this server; any other name is an attack by a page that hides where it is. */
export function allowedHosts(
  host: string,
  port: () => number,
  publicUrl: string | undefined,
): AllowedHosts {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  return {
    has(name) {
      if (name === publicHost) return true;
      const [bare, number] = splitHost(name);
      if (Number(number ?? 80) !== port()) return false;
      return ["127.0.0.1", "localhost", "[::1]"].includes(bare) || bare === host;
    },
  };
}

function splitHost(name: string): [string, string | undefined] {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:]+)(?::(\d+))?$/.exec(name);
  return match ? [(match[1] as string).toLowerCase(), match[2]] : [name, undefined];
}

export function checkHost(hosts: AllowedHosts, host: string | undefined): void {
  if (host !== undefined && hosts.has(host)) return;
  throw new Refusal(
    "forbidden",
    "host_not_allowed",
    "This server does not answer to that host name. Use the address it printed, or set MUSTER_PUBLIC_URL.",
  );
}

/** `origin` comes from a browser; absent means that no page sent the request. */
export function isOwnOrigin(hosts: AllowedHosts, origin: string): boolean {
  try {
    const url = new URL(origin);
    // Browsers send exactly an origin; anything longer is none.
    if (url.origin !== origin) return false;
    return (url.protocol === "http:" || url.protocol === "https:") && hosts.has(url.host);
  } catch {
    return false;
  }
}

export function refuseOrigin(): Refusal {
  return new Refusal(
    "forbidden",
    "origin_not_allowed",
    "A page from another site may not do this. Open Muster's own page, or use an API key.",
  );
}

export function tooLarge(limit: number): Refusal {
  return new Refusal(
    "too_large",
    "body_too_large",
    `The body may have at most ${limit} bytes. Send less at once.`,
  );
}

/** Parses a body that may be hostile: the cost of parsing is checked first. */
export function parseJson(bytes: Buffer): unknown {
  requireJsonBounds(bytes, JSON_BOUNDS);
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    throw new Refusal(
      "invalid",
      "invalid_json",
      "The body is not JSON. Check quotes, commas and the encoding (UTF-8).",
    );
  }
}
