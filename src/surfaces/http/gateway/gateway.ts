/**
 * The model gateway over HTTP: a turn reaches model providers through the server, with its run token in place
 * of a key, so that a provider's key never leaves the server. Requests and responses pass byte for byte;
 * usage is metered on the way.
 *
 * A runner may be compromised. A request therefore chooses only a provider by name and one of a few known
 * routes: no other path, no redirect, and only headers of a model's API.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Log } from "#base/log.ts";
import { notFound, Refusal } from "#base/refusal.ts";
import { keepSecret, withoutSecrets } from "#base/secrets/known-secrets.ts";
import type { Principal } from "#engine/index.ts";
import { gatewayApi } from "#features/gateway/contract.ts";
import { type App, type AppEnv, principalOf, readBytes } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { refusalBody } from "../errors.ts";
import { passAnswer } from "./gateway-answer.ts";
import { DEFAULT_EXCHANGE_LIMITS, Exchange, type ExchangeLimits } from "./gateway-exchange.ts";
import { requestHeaders, responseHeaders, secretsOf } from "./gateway-headers.ts";
import {
  MODEL_ROUTES,
  type ModelGateway,
  type ModelRoute,
  type ReachedProvider,
  type SpentBudget,
} from "./model-gateway.ts";
import { ask, readStart } from "./upstream.ts";

export const MAX_GATEWAY_BODY_BYTES = 32 * 1024 * 1024;
/** Error responses are short; their text is redacted before it is passed on. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface GatewayOptions {
  gateway: ModelGateway;
  log: Log;
  limits?: ExchangeLimits;
}

interface GatewayDependencies {
  gateway: ModelGateway;
  limits: ExchangeLimits;
  log: Log;
}

export function gatewayRoutes(
  app: App,
  { gateway, log, limits = DEFAULT_EXCHANGE_LIMITS }: GatewayOptions,
): void {
  const asking: GatewayDependencies = { gateway, log, limits };
  endpoint(app, gatewayApi.providers, async ({ c }) => ({
    items: await gateway.list(requireRunner(principalOf(c))),
  }));
  app.hono.get("/api/gateway/*", (c) => listModels(c, asking));
  app.hono.post("/api/gateway/*", (c) => askModel(c, asking));
}

/** Lists models for a runner, which asks before it has any turn. */
async function listModels(c: Context<AppEnv>, { gateway, log, limits }: GatewayDependencies) {
  const runner = requireRunner(principalOf(c));
  const target = readTarget(c);
  if (target?.route !== "models" || c.req.method !== "GET") throw noSuchRoute();
  const provider = await gateway.find(runner, target.provider);
  if (!provider) throw notFound("provider");
  const exchange = new Exchange(c, limits);
  try {
    const answer = await send(exchange, provider, { ...target, method: "GET" }, log);
    if (answer instanceof Response) return answer;
    return await passAnswer(exchange, answer, { provider, name: target.provider, log });
  } finally {
    exchange.close();
  }
}

async function askModel(c: Context<AppEnv>, { gateway, log, limits }: GatewayDependencies) {
  const agent = requireTurn(principalOf(c));
  const target = readTarget(c);
  const route = MODEL_ROUTES.find((one) => one === target?.route);
  if (!target || !route) throw noSuchRoute();
  refusePacked(c);
  const readBody = () => readBytes(c, MAX_GATEWAY_BODY_BYTES);
  const passage = await gateway.open(agent, { provider: target.provider, route, readBody });
  if ("spent" in passage) return respondSpent(c, passage);
  const exchange = new Exchange(c, limits, () => gateway.isStillHeld(agent));
  try {
    const { provider, body } = passage;
    const answer = await send(exchange, provider, { ...target, method: "POST", body }, log);
    if (answer instanceof Response) {
      // An aborted request had been sent, and costs money.
      await countLater(exchange.signal.aborted ? passage.end(true) : passage.fail(), log);
      return answer;
    }
    return await passAnswer(exchange, answer, { provider, name: target.provider, log, passage });
  } finally {
    exchange.close();
    await countLater(passage.end(true), log);
  }
}

/** The response is already on its way, so a failed count is only logged: a sweep repeats it. */
async function countLater(count: Promise<void>, log: Log): Promise<void> {
  await count.catch((error: unknown) => {
    log.warn({ err: error }, "a request to a model will be counted later");
  });
}

function requireRunner(principal: Principal): Extract<Principal, { kind: "runner" }> {
  if (principal.kind === "runner") return principal;
  throw runnersOnly();
}

/** Requires a turn: a runner's own token opens no model. */
function requireTurn(principal: Principal): Extract<Principal, { kind: "session" }> {
  if (principal.kind === "session") return principal;
  if (principal.kind !== "runner") throw runnersOnly();
  throw new Refusal(
    "forbidden",
    "run_token_required",
    "Models are reached with the run token of the turn, not with a runner's token. Update the runner to its server's version.",
  );
}

function runnersOnly(): Refusal {
  return new Refusal(
    "forbidden",
    "runners_only",
    "Only runners can reach models here. To use a model, send a prompt to a session.",
  );
}

interface Target {
  provider: string;
  route: ModelRoute | "models";
  query: string;
}

/** Matches the address as it was sent, undecoded: any other spelling is unknown. */
const ADDRESS =
  /^\/api\/gateway\/([a-z0-9-]{1,41})\/(?:v1\/)?(messages|chat\/completions|responses|models)(\?beta=true)?$/;

function readTarget(c: Context<AppEnv>): Target | undefined {
  const match = ADDRESS.exec(c.env.incoming.url ?? "");
  if (!match) return undefined;
  const [, provider = "", route = "", query = ""] = match;
  return { provider, route: route as Target["route"], query };
}

function noSuchRoute(): Refusal {
  const routes = [...MODEL_ROUTES.map((route) => `POST ${route}`), "GET models"].join(", ");
  return new Refusal(
    "not_found",
    "gateway_route_unknown",
    `The model gateway does not have this route. Its routes, below /api/gateway/<provider>/v1/: ${routes}.`,
  );
}

/** Refuses compressed bodies, which cannot be checked. */
function refusePacked(c: Context<AppEnv>): void {
  const packed = c.req.header("content-encoding");
  if (packed === undefined || packed === "identity") return;
  throw new Refusal(
    "unsupported",
    "gateway_body_packed",
    "The model gateway does not accept encoded requests. Send the body without Content-Encoding.",
  );
}

/** Reports a spent budget in the provider's format, so that a program ends at once instead of retrying. */
function respondSpent(c: Context<AppEnv>, { spent: message, kind }: SpentBudget): Response {
  if (kind === "anthropic")
    return c.json({ type: "error", error: { type: "billing_error", message } }, 402);
  const code = "insufficient_quota";
  return c.json({ error: { message, type: code, param: null, code } }, 429);
}

interface UpstreamRequest {
  provider: string;
  route: string;
  query: string;
  method: "GET" | "POST";
  body?: Buffer;
}

/** Returns the provider's response on success; any other response is sent from here. */
async function send(
  exchange: Exchange,
  provider: ReachedProvider,
  { provider: name, route, query, method, body }: UpstreamRequest,
  log: Log,
): Promise<IncomingMessage | Response> {
  const { c } = exchange;
  const headers = requestHeaders(c.env.incoming.headers, provider, body);
  // Keys are sent from here, and no response may return them.
  for (const secret of secretsOf(provider)) keepSecret(secret);
  let answer: IncomingMessage;
  try {
    exchange.waitForHeaders();
    const url = new URL(`${provider.baseUrl}/${route}${query}`);
    answer = await ask(url, { method, headers, body, signal: exchange.signal });
  } catch (error) {
    if (exchange.isClientGone) return RESPONSE_ALREADY_SENT;
    return unreachable(c, log, name, exchange.signal.aborted ? "ETIMEDOUT" : codeOf(error));
  }
  const status = answer.statusCode ?? 0;
  if (status < 200 || (status >= 300 && status < 400)) {
    answer.destroy();
    return redirected(c, log, name, status);
  }
  return status >= 400 ? passError(c, answer, provider) : answer;
}

/** Passes an error on without the key, which some providers repeat. */
async function passError(
  c: Context<AppEnv>,
  answer: IncomingMessage,
  provider: ReachedProvider,
): Promise<Response> {
  // An unrequested compressed body cannot be redacted.
  const { "content-encoding": packed, ...plain }: OutgoingHttpHeaders = responseHeaders(
    answer.headers,
  );
  let text = packed ? "" : (await readStart(answer, MAX_ERROR_BYTES)).toString("utf8");
  if (packed) answer.destroy();
  for (const secret of secretsOf(provider)) text = text.replaceAll(secret, "[redacted]");
  text = withoutSecrets(text);
  c.env.outgoing.writeHead(answer.statusCode ?? 502, {
    ...plain,
    "content-length": Buffer.byteLength(text),
  });
  c.env.outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}

function unreachable(c: Context, log: Log, provider: string, code: string): Response {
  log.warn({ provider, code }, "a model provider could not be reached");
  return badGateway(
    c,
    "provider_unreachable",
    `The provider ${provider} could not be reached (${code}). Check its address in the settings, and that it runs.`,
  );
}

function redirected(c: Context, log: Log, provider: string, status: number): Response {
  log.warn({ provider, status }, "a model provider sent a request elsewhere; not followed");
  return badGateway(
    c,
    "provider_redirected",
    `The provider ${provider} answered ${status} with a redirect, which is not followed. Put its final address in the settings.`,
  );
}

function badGateway(c: Context, code: string, message: string): Response {
  return c.json(refusalBody(new Refusal("unavailable", code, message)), 502);
}

/** Messages of network errors contain addresses; the code is enough. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "no reason given";
}
