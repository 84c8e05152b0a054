/**
 * `/mcp`: Streamable HTTP without state. Every request gets a server and a transport of its own and is
 * identified by its bearer token alone, so any server may handle it and no response can reach another caller.
 * A lost stream is resumed with GET and `Last-Event-ID` (`resume.ts`). A client gets a name when it begins
 * (`Mcp-Session-Id`); nothing is stored under it, it only separates the messages of two clients that use the
 * same key.
 */
import type { Context } from "hono";
import { Refusal } from "#base/refusal.ts";
import { type App, type AppEnv, addressOf, readBytes } from "#surfaces/http/app.ts";
import { refusalStatus } from "#surfaces/http/errors.ts";
import { MAX_BODY_BYTES, parseJson } from "#surfaces/http/guards/guard.ts";
import type { McpRouteOptions } from "./exchange.ts";
import { checkMessages, clientIdOf } from "./messages.ts";
import { mayRepeat, resumedBody } from "./resume.ts";

export function mcpRoute(app: App, options: McpRouteOptions): void {
  app.hono.all("/mcp", async (c) => {
    c.env.outgoing.setHeader("Cache-Control", "no-store");
    c.env.outgoing.setHeader("X-Content-Type-Options", "nosniff");
    try {
      return await answer(c, options);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return refused(c, error);
    }
  });
}

async function answer(c: Context<AppEnv>, options: McpRouteOptions): Promise<Response> {
  const { authorization } = c.env.incoming.headers;
  // Bearer tokens only: a browser sends cookies for whatever page it has open.
  const headers = authorization === undefined ? {} : { authorization };
  const caller = await options.callers.identify(headers, addressOf(c), true);
  const toolbox = options.toolboxFor(caller);
  if (!toolbox)
    throw new Refusal(
      "forbidden",
      "forbidden",
      "This credential has no tools here. Use an API key, or the token of a run.",
    );
  const lost = c.req.method === "GET" ? c.req.header("last-event-id") : undefined;
  if (c.req.method !== "POST" && lost === undefined) return notAllowed(c);
  const body = lost === undefined ? await readBytes(c, MAX_BODY_BYTES) : resumedBody(lost);
  if (!body) throw notResumable();
  const messages = checkMessages(parseJson(body), c.req.header("mcp-protocol-version"));
  const clientId = clientIdOf(c.req.header("mcp-session-id"));
  if (lost !== undefined && !mayRepeat(messages, clientId, toolbox)) throw notResumable();
  // The protocol's library loads slowly, and most servers never need it.
  const { exchange } = await import("./exchange.ts");
  return exchange(c, messages, { ...options, caller, headers, toolbox });
}

function notResumable(): Refusal {
  return new Refusal(
    "conflict",
    "not_resumable",
    "This stream cannot be resumed: send the same Mcp-Session-Id as in the call, and resume only calls that may be repeated. Check the result of the call, and make it again if it was not done.",
  );
}

/** Refuses GET and DELETE: there are no streams between requests, and no state to delete. */
function notAllowed(c: Context<AppEnv>): Response {
  c.header("Allow", "POST");
  return c.json(rpcError(METHOD_NOT_ALLOWED, "Only POST is answered here."), 405);
}

const METHOD_NOT_ALLOWED = -32000;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const NO_KEY =
  "The key is missing, wrong or was revoked. Create one with: muster mcp --new-key NAME, and send it as Authorization: Bearer <key>.";

function refused(c: Context<AppEnv>, refusal: Refusal): Response {
  const { code, kind, message, retryAfterMs } = refusal;
  if (kind === "unauthenticated") c.header("WWW-Authenticate", 'Bearer realm="muster"');
  if (retryAfterMs !== undefined) c.header("Retry-After", String(Math.ceil(retryAfterMs / 1_000)));
  const words = kind === "unauthenticated" ? NO_KEY : message;
  const number = code === "invalid_json" ? PARSE_ERROR : INVALID_REQUEST;
  return c.json(rpcError(number, words, { code }), refusalStatus(refusal) as 400);
}

function rpcError(code: number, message: string, data?: object) {
  return { jsonrpc: "2.0", id: null, error: { code, message, ...(data ? { data } : {}) } };
}
