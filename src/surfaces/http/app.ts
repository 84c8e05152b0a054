/** The HTTP application: limits, then identity, then routes, then one translation of refusals. */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "#base/log.ts";
import { clientAddress, type TrustedProxies } from "#base/net/trusted-proxy.ts";
import { Refusal } from "#base/refusal.ts";
import { fingerprintOf, type IdempotentRequest, type Principal } from "#engine/index.ts";
import type { ApiRoute } from "#protocol/api-route.ts";
import { resolveSessionId } from "#protocol/names/session-ids.ts";
import type { NoteRefusal } from "./agent-refusals.ts";
import { answerError } from "./errors.ts";
import { credentialHeaders, isGatewayPath } from "./gateway/gateway-path.ts";
import type { Caller, Callers } from "./guards/callers.ts";
import {
  type AllowedHosts,
  checkHost,
  isOwnOrigin,
  MAX_BODY_BYTES,
  MAX_STRANGER_BODY_BYTES,
  parseJson,
  refuseOrigin,
  tooLarge,
} from "./guards/guard.ts";
import { type createProxyWatch, requireHttps } from "./guards/transport.ts";
import { requireId } from "./input.ts";

export interface AppEnv {
  Bindings: HttpBindings;
  Variables: { caller: Caller; rawBody: string; json: unknown; address: string };
}

/** Routes, and their descriptions for the API document. */
export interface App {
  hono: Hono<AppEnv>;
  specs: ApiRoute[];
}

export interface AppOptions {
  callers: Callers;
  hosts: AllowedHosts;
  /** Proxies whose forwarded headers are trusted. */
  trustedProxy?: TrustedProxies | undefined;
  /** `MUSTER_INSECURE_HTTP`. */
  insecureHttp?: boolean;
  /** Notified of forwarded headers. */
  proxies?: ReturnType<typeof createProxyWatch>;
  /** Notified of every refusal whose caller is known. */
  noteRefusal?: NoteRefusal;
  log: Log;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

export function createApp(options: AppOptions): App {
  const { callers, hosts, trustedProxy, insecureHttp = false, proxies, noteRefusal, log } = options;
  const app = new Hono<AppEnv>();
  const refuse = async (error: unknown, c: Context<AppEnv>) => {
    const caller = c.get("caller") as Caller | undefined;
    if (caller && error instanceof Refusal)
      await noteRefusal?.(caller.principal, matchedRouteOf(c), error);
    return answerError(log, error, c);
  };
  app.onError(refuse);
  app.notFound((c) =>
    refuse(
      new Refusal("not_found", "not_found", "There is nothing at this address. See /api/docs."),
      c,
    ),
  );
  app.use(async (c, next) => {
    setSafeHeaders(c);
    const { remoteAddress, localAddress } = c.env.incoming.socket;
    const forwarded = c.req.header("x-forwarded-for");
    proxies?.look(remoteAddress, forwarded !== undefined);
    c.set("address", clientAddress(remoteAddress, forwarded, trustedProxy));
    // Probes from other machines use these two, and learn nothing.
    if (c.req.path !== "/health" && c.req.path !== "/ready")
      requireHttps(
        { insecureHttp, trustedProxy },
        {
          remote: remoteAddress,
          local: localAddress,
          host: c.req.header("host"),
          forwardedProto: c.req.header("x-forwarded-proto"),
        },
      );
    checkHost(hosts, c.req.header("host"));
    const origin = c.req.header("origin");
    if (origin !== undefined && !isOwnOrigin(hosts, origin)) throw refuseOrigin();
    // Browsers mark a change that another site, or another port of this host, sends.
    const site = c.req.header("sec-fetch-site");
    const isForeign = site === "cross-site" || site === "same-site";
    if (isForeign && !READING.has(c.req.method)) throw refuseOrigin();
    await next();
  });
  app.use("/api/*", async (c, next) => {
    const changes = !READING.has(c.req.method);
    const known = !isPublic(c.req.path);
    const toGateway = isGatewayPath(c.req.path);
    if (known) {
      const { headers } = c.env.incoming;
      const given = toGateway ? credentialHeaders(headers) : headers;
      const isDocumentation = /^\/api\/(docs(\/|$)|openapi\.json$)/.test(c.req.path);
      c.set("caller", await callers.identify(given, addressOf(c), changes, isDocumentation));
    } else callers.stranger(addressOf(c));
    // Read only now: no unknown caller can make the server read much.
    if (changes && !toGateway) await readBody(c, known ? MAX_BODY_BYTES : MAX_STRANGER_BODY_BYTES);
    await next();
  });
  return { hono: app, specs: [] };
}

/**
 * Sets headers that every response begins with, refusals too: no caching, no type sniffing, no frames. They
 * are set on Node's own response, so that every kind of response has them; pages and files replace them with
 * their own. Previews are made for a frame of our own page.
 */
function setSafeHeaders({ req, env: { outgoing } }: Context<AppEnv>): void {
  outgoing.setHeader("Cache-Control", "no-store");
  outgoing.setHeader("X-Content-Type-Options", "nosniff");
  if (req.path.startsWith("/preview/")) return;
  outgoing.setHeader("X-Frame-Options", "DENY");
  outgoing.setHeader("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

function matchedRouteOf(c: Context<AppEnv>) {
  const route = matchedRoutes(c).findLast(({ path }) => !path.endsWith("*"));
  return { method: c.req.method, route: route?.path ?? "none" };
}

/** Signing in and joining create an identity, so they cannot require one. */
export function isPublic(path: string): boolean {
  return (
    path === "/api/auth/sign-in" ||
    path === "/api/auth/links/inspect" ||
    path === "/api/auth/providers" ||
    /^\/api\/auth\/[^/]+\/(start|callback)$/.test(path) ||
    /^\/api\/invitations\/[^/]+\/accept$/.test(path)
  );
}

export const requireCaller =
  (callers: Callers): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    c.set("caller", await callers.identify(c.env.incoming.headers, addressOf(c), false));
    await next();
  };

export function addressOf(c: Context<AppEnv>): string {
  return c.get("address");
}

/** Reads the body once, within bounds, and checks that it is JSON of limited depth. */
async function readBody(c: Context<AppEnv>, limit: number): Promise<void> {
  const bytes = await readBytes(c, limit);
  const text = bytes.toString("utf8");
  c.set("rawBody", text);
  if (text === "") return;
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/(json|[\w.+-]+\+json)\b/i.test(type)) {
    throw new Refusal(
      "unsupported",
      "unsupported_media_type",
      "Send JSON with the header `Content-Type: application/json`.",
    );
  }
  c.set("json", parseJson(bytes));
}

export async function readBytes(c: Context<AppEnv>, limit: number): Promise<Buffer> {
  if (Number(c.req.header("content-length") ?? 0) > limit) throw tooLarge(limit);
  const { incoming } = c.env;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) reject(tooLarge(limit));
      else chunks.push(chunk);
    });
    incoming.on("end", () => {
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    incoming.on("error", reject);
  });
}

export function principalOf(c: Context<AppEnv>): Principal {
  return c.get("caller").principal;
}

/** Session in the path, by id or alias. */
export function sessionIdOf(c: Context<AppEnv>): string {
  return sessionIdFor(principalOf(c), requireId(c.req.param("id"), "session"));
}

export function sessionIdFor(principal: Principal, sessionId: string): string {
  return resolveSessionId(sessionId, principal.kind === "user" ? principal.userId : null);
}

/** Requires a person: runners' tokens and agents must not reach these routes. */
export function userOf(c: Context<AppEnv>): Extract<Principal, { kind: "user" }> {
  const principal = principalOf(c);
  if (principal.kind === "user") return principal;
  throw new Refusal("forbidden", "forbidden", "Only a person may do this. Use a person's key.");
}

export function idempotencyOf(c: Context<AppEnv>): IdempotentRequest | undefined {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw new Refusal(
      "invalid",
      "idempotency_key_invalid",
      "An Idempotency-Key must have 1 to 200 visible ASCII characters.",
    );
  }
  return { key, fingerprint: fingerprintOf(c.req.method, c.req.path, c.get("rawBody") ?? "") };
}
