/**
 * `/mcp`: Streamable HTTP without state. Every request gets a server and a transport of its own and
 * says by its bearer token alone who it is, so any server may answer it and no answer can reach
 * somebody else. A stream that was lost is resumed with GET and `Last-Event-ID` (`resume.ts`). A client
 * is given a name when it begins (`Mcp-Session-Id`); nothing is kept under it, it only tells the
 * messages of two clients apart that use the same key.
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
  // Nothing else: a cookie is sent by whatever page a browser has open.
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
  // The protocol's library takes long to load, and most servers are never asked.
  const { exchange } = await import("./exchange.ts");
  return exchange(c, messages, { ...options, caller, headers, toolbox });
}

function notResumable(): Refusal {
  return new Refusal(
    "conflict",
    "not_resumable",
    "This stream cannot be resumed: name the client by Mcp-Session-Id as in the call, and resume only calls that may be repeated. Look at what became of the call, and make it again if it was not done.",
  );
}

/** There is nothing to listen to between requests, and no state that could be deleted. */
function notAllowed(c: Context<AppEnv>): Response {
  c.header("Allow", "POST");
  return c.json(rpcError(METHOD_NOT_ALLOWED, "Only POST is answered here."), 405);
}

const METHOD_NOT_ALLOWED = -32000;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const NO_KEY =
  "There is no good key with this request: it is missing, wrong or was taken away. Make one with: muster mcp --new-key NAME, and send it as Authorization: Bearer <key>.";

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
