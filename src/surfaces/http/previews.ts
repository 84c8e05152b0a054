/**
 * Previews of agents' pages. Such a page is foreign code: it is served only under an address that carries its
 * own right to be read, never by cookie, and a sandbox without an origin separates it from everything of
 * ours. The address names the credential that it was made with, and stops working once that credential ends
 * or its holder may no longer read the session.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import { notFound } from "#base/refusal.ts";
import type { Kernel, Principal } from "#engine/index.ts";
import { workspacesApi } from "#engine/workspaces/contract.ts";
import { type App, addressOf, principalOf, sessionIdOf, userOf } from "./app.ts";
import { endpoint } from "./endpoint.ts";
import type { Callers } from "./guards/callers.ts";

const LIFE_MS = 60 * 60_000;

const COMMON_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-DNS-Prefetch-Control": "off",
  "Cache-Control": "no-store",
};
const CONTAINED = "connect-src 'none'; form-action 'none'; base-uri 'none'; object-src 'none'";
/** Policy without scripts: nothing of a page can act. */
const POLICY_WITHOUT_SCRIPTS = `sandbox; default-src 'none'; style-src 'self' 'unsafe-inline' data:; img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; ${CONTAINED}; frame-ancestors 'self'`;
/**
 * Policy with scripts: the page has no origin and may request nothing, but browsers leak. A person must have
 * asked for it, and is warned.
 */
const POLICY_WITH_SCRIPTS = `sandbox allow-scripts; default-src 'self' data: blob: 'unsafe-inline'; ${CONTAINED}; frame-ancestors 'self'`;
/** Policy of our own page around it: a framed page cannot navigate the tab. */
const FRAME_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Finds the holder of a credential while it is valid. */
export interface Holders {
  findHolder(credentialId: string): Promise<Principal | undefined>;
}

export interface PreviewOptions {
  kernel: Kernel;
  holders: Holders;
  callers: Callers;
  clock: Clock;
  secretKey: string;
}

export function previewRoutes(app: App, options: PreviewOptions): void {
  const { kernel, holders, callers, clock, secretKey } = options;
  const key = createHmac("sha256", secretKey).update("previews").digest();
  endpoint(app, workspacesApi.createPreview, async ({ c, body }) => {
    const sessionId = sessionIdOf(c);
    const { until } = await kernel.workspaces.requireReadable(principalOf(c), sessionId);
    // Agents have no browser, and their tokens end with the turn.
    userOf(c);
    const { credentialId } = c.get("caller");
    const expiresAt = Math.min(clock.now() + LIFE_MS, until ?? Number.POSITIVE_INFINITY);
    const token = sign(key, {
      sessionId,
      credentialId,
      expiresAt,
      scripts: body.scripts ?? false,
    });
    const path = (body.path ?? "index.html").split("/").map(encodeURIComponent).join("/");
    return {
      url: `/preview/${token}?path=${encodeURIComponent(path)}`,
      frameUrl: `/preview/${token}/${path}`,
      expiresAt: new Date(expiresAt).toISOString(),
    };
  });
  const open = async (token: string | undefined): Promise<Claim> => {
    const claim = verify(key, token ?? "", clock.now());
    const holder = claim && (await holders.findHolder(claim.credentialId));
    if (!holder) throw notFound("preview");
    await kernel.workspaces.requireReadable(holder, claim.sessionId);
    return claim;
  };
  app.hono.get("/preview/:token", async (c) => {
    callers.stranger(addressOf(c));
    const token = c.req.param("token");
    await open(token);
    return c.html(pageAround(`/preview/${token}/${pathIn(c.req.query("path"))}`), 200, {
      ...COMMON_HEADERS,
      "Content-Security-Policy": FRAME_POLICY,
    });
  });
  app.hono.get("/preview/:token/:path{.+}", async (c) => {
    callers.stranger(addressOf(c));
    const token = c.req.param("token");
    const { sessionId, scripts } = await open(token);
    const path = c.req.param("path") ?? "";
    // A page outside the frame could navigate elsewhere and take its content along.
    if (c.req.header("sec-fetch-dest") === "document")
      return c.redirect(`/preview/${token}?path=${encodeURIComponent(encodeURI(path))}`);
    const { mediaType, data } = await kernel.workspaces.file(sessionId, path);
    return new Response(new Uint8Array(data), {
      headers: {
        "Content-Type": shownType(mediaType),
        ...COMMON_HEADERS,
        "Content-Security-Policy": scripts ? POLICY_WITH_SCRIPTS : POLICY_WITHOUT_SCRIPTS,
      },
    });
  });
}

/** A runner's media type is accepted only if a browser can do no harm with it. */
function shownType(mediaType: string): string {
  return /^(text|image)\/[\w.+-]{1,60}(; charset=utf-8)?$|^application\/json$/.test(mediaType)
    ? mediaType
    : "application/octet-stream";
}

/** Path from a query, safe in an attribute. */
function pathIn(query: string | undefined): string {
  return (query ?? "index.html").replaceAll(/[^\w%/.~-]/g, encodeURIComponent);
}

function pageAround(frameUrl: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Preview</title>
<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style></head>
<body><iframe sandbox="allow-scripts" referrerpolicy="no-referrer" title="Preview" src="${frameUrl}"></iframe></body></html>`;
}

interface Claim {
  sessionId: string;
  /** Credential that the address was made with. */
  credentialId: string;
  expiresAt: number;
  /** True if a person asked to run its scripts. */
  scripts: boolean;
}

function sign(key: Buffer, { sessionId, credentialId, expiresAt, scripts }: Claim): string {
  const text = `${expiresAt}.${scripts ? 1 : 0}.${credentialId}.${sessionId}`;
  const claim = Buffer.from(text).toString("base64url");
  return `${claim}.${createHmac("sha256", key).update(claim).digest("base64url")}`;
}

/** Verifies a token; undefined when it is forged or expired. */
function verify(key: Buffer, token: string, now: number): Claim | undefined {
  const [claim = "", mac = ""] = token.split(".");
  const expected = createHmac("sha256", key).update(claim).digest();
  const given = Buffer.from(mac, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const text = Buffer.from(claim, "base64url").toString("utf8");
  const [expiresAt, scripts, credentialId = "", ...id] = text.split(".");
  if (Number(expiresAt) <= now) return undefined;
  const sessionId = id.join(".");
  return { sessionId, credentialId, expiresAt: Number(expiresAt), scripts: scripts === "1" };
}
