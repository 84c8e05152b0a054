/**
 * What every request passes before anything else looks at it: the Host it names, the Origin it
 * comes from, and the size and shape of its body. Nothing here needs to know who is calling.
 */
import { Refusal } from "#base/refusal.ts";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Who has not said who they are has little to say. */
export const MAX_STRANGER_BODY_BYTES = 4 * 1024;
export const MAX_JSON_DEPTH = 64;

export interface AllowedHosts {
  has(host: string): boolean;
}

/** Names under which this server may be asked for; anything else is a page that lies about where it is. */
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
    "This server does not answer to that name. Use the address it printed, or set MUSTER_PUBLIC_URL.",
  );
}

/** `origin` is what a browser says; absent means that no page is behind the request. */
export function isOwnOrigin(hosts: AllowedHosts, origin: string): boolean {
  try {
    const url = new URL(origin);
    // Exactly an origin: no browser says more, and what says more is not one.
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
    "A page from another place may not do this. Open Muster's own page, or use an API key.",
  );
}

export function tooLarge(limit: number): Refusal {
  return new Refusal(
    "too_large",
    "body_too_large",
    `The body may have at most ${limit} bytes. Send less at once.`,
  );
}

/** Parses a body that may be hostile: the depth is checked before anything recursive sees it. */
export function parseJson(text: string): unknown {
  if (depthExceeds(text, MAX_JSON_DEPTH)) {
    throw new Refusal(
      "invalid",
      "json_too_deep",
      `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels. Flatten it.`,
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Refusal(
      "invalid",
      "invalid_json",
      "The body is not JSON. Check quotes, commas and the encoding (UTF-8).",
    );
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/** Looks at each character once, whatever the text is like. */
function depthExceeds(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (OPENING.has(code)) depth++;
    else if (CLOSING.has(code)) depth--;
    if (depth > limit) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}
