/**
 * The model gateway: runners reach model providers through the server, with their own token, so that
 * a provider's key never leaves it. Answers pass through as they come, piece by piece.
 *
 * A runner may be taken over. So it chooses a provider by name and one of a few known routes, and
 * nothing else about where a request goes: no other path, no redirect, no header that is not of a
 * model's API.
 */
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { pipeline } from "node:stream/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import * as z from "zod";
import { keepSecret, withoutSecrets } from "#base/known-secrets.ts";
import type { Log } from "#base/log.ts";
import { notFound, Refusal } from "#base/refusal.ts";
import type { Principal } from "#engine/index.ts";
import { PROVIDER_KINDS, type ProviderKind } from "#features/providers/contract.ts";
import { FROM_PROVIDER_HEADER } from "#protocol/models.ts";
import { type App, type AppEnv, principalOf, readBytes } from "./app.ts";
import { endpoint } from "./endpoint.ts";
import { refusalBody } from "./errors.ts";
import { redactStream } from "./redact-stream.ts";
import { ask, readStart } from "./upstream.ts";

export const MAX_GATEWAY_BODY_BYTES = 32 * 1024 * 1024;
/** An error says little; its text is looked through before it is passed on. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface GatewayProvider {
  kind: ProviderKind;
  /** Ends with the version, such as `/v1`. */
  baseUrl: string;
  apiKey: string | null;
}

export interface GatewayProviders {
  resolve(orgId: string, name: string): Promise<GatewayProvider | undefined>;
  list(orgId: string): Promise<{ name: string; kind: ProviderKind; models: string[] | null }[]>;
}

export interface GatewayOptions {
  providers: GatewayProviders;
  log: Log;
}

const offeredSchema = z
  .object({
    name: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    models: z.array(z.string()).nullable(),
  })
  .meta({ id: "GatewayProvider" });

export function gatewayRoutes(app: App, { providers, log }: GatewayOptions): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/gateway",
      summary: "Model providers that a runner reaches through this server",
      tag: "Runners",
      response: z.object({ items: z.array(offeredSchema) }),
    },
    async ({ c }) => ({ items: await providers.list(requireRunner(principalOf(c)).orgId) }),
  );
  app.hono.on(["GET", "POST"], "/api/gateway/*", async (c) => {
    const { orgId } = requireRunner(principalOf(c));
    const asked = readTarget(c.req.method, c.env.incoming.url ?? "");
    if (!asked) throw noSuchRoute();
    const provider = await providers.resolve(orgId, asked.provider);
    if (!provider) throw notFound("provider");
    const body = asked.method === "POST" ? await readBytes(c, MAX_GATEWAY_BODY_BYTES) : undefined;
    return passOn(c, { ...asked, ...provider, body }, log);
  });
}

function requireRunner(principal: Principal): Extract<Principal, { kind: "runner" }> {
  if (principal.kind === "runner") return principal;
  throw new Refusal(
    "forbidden",
    "runners_only",
    "Models are reached here by runners alone. To use a model, send a prompt to a session.",
  );
}

/** All that may be asked of a provider. */
const METHOD_OF: ReadonlyMap<string, "GET" | "POST"> = new Map([
  ["messages", "POST"],
  ["chat/completions", "POST"],
  ["responses", "POST"],
  ["embeddings", "POST"],
  ["models", "GET"],
]);

interface Target {
  provider: string;
  method: "GET" | "POST";
  route: string;
  query: string;
}

/** Read from the address as it was sent, undecoded: what is not written plainly is not known. */
function readTarget(method: string, address: string): Target | undefined {
  const match = /^\/api\/gateway\/([a-z0-9-]+)\/(?:v1\/)?([a-z/]+)(\?.*)?$/.exec(address);
  const [, provider = "", route = "", query = ""] = match ?? [];
  const wanted = METHOD_OF.get(route);
  return wanted === method ? { provider, method: wanted, route, query } : undefined;
}

function noSuchRoute(): Refusal {
  const routes = [...METHOD_OF].map(([route, method]) => `${method} ${route}`).join(", ");
  return new Refusal(
    "not_found",
    "gateway_route_unknown",
    `The model gateway does not know this route. It knows, below /api/gateway/<provider>/v1/: ${routes}.`,
  );
}

interface Request extends Target, GatewayProvider {
  body: Buffer | undefined;
}

async function passOn(c: Context<AppEnv>, request: Request, log: Log): Promise<Response> {
  const { incoming, outgoing } = c.env;
  const { provider, baseUrl, route, query, method, body } = request;
  const gone = new AbortController();
  // Who asked is no longer there: the provider need not go on, nor be paid for it.
  outgoing.once("close", () => gone.abort());
  if (outgoing.destroyed) gone.abort();
  const headers = requestHeaders(incoming.headers, request);
  // It goes out from here, and must come back by no way.
  if (request.apiKey !== null) keepSecret(request.apiKey);
  let answer: IncomingMessage;
  try {
    const url = new URL(`${baseUrl}/${route}${query}`);
    answer = await ask(url, { method, headers, body, signal: gone.signal });
  } catch (error) {
    if (gone.signal.aborted) return RESPONSE_ALREADY_SENT;
    return unreachable(c, log, provider, error);
  }
  const status = answer.statusCode ?? 0;
  if (status < 200 || (status >= 300 && status < 400)) {
    answer.destroy();
    return redirected(c, log, provider, status);
  }
  const kept = responseHeaders(answer.headers);
  if (status >= 400) return passOnError(c, answer, kept, request.apiKey);
  outgoing.writeHead(status, { ...kept, "x-accel-buffering": "no" });
  outgoing.flushHeaders();
  answer.once("error", (error) => {
    if (!gone.signal.aborted) log.warn({ provider, code: codeOf(error) }, "a model stream broke");
  });
  // Waits for a slow reader, and ends both sides when either breaks off; the reader sees that itself.
  const { apiKey } = request;
  await pipeline(answer, redactStream(apiKey), outgoing as ServerResponse).catch(() => {});
  return RESPONSE_ALREADY_SENT;
}

/** Some providers repeat the key that they refuse; it must not come out here. */
async function passOnError(
  c: Context<AppEnv>,
  answer: IncomingMessage,
  headers: OutgoingHttpHeaders,
  apiKey: string | null,
): Promise<Response> {
  // Packed in spite of what was asked for, it cannot be looked through.
  const { "content-encoding": packed, ...plain } = headers;
  const said = packed ? "" : (await readStart(answer, MAX_ERROR_BYTES)).toString("utf8");
  if (packed) answer.destroy();
  const text = withoutSecrets(apiKey === null ? said : said.replaceAll(apiKey, "[redacted]"));
  c.env.outgoing.writeHead(answer.statusCode ?? 502, {
    ...plain,
    "content-length": Buffer.byteLength(text),
  });
  c.env.outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}

const PASSED_TO_PROVIDER =
  /^(?:accept|content-type|user-agent|anthropic-[\w-]+|openai-[\w-]+|x-stainless-[\w-]+|http-referer|x-title)$/;
/** What Anthropic insists on, for those who ask only for its models. */
const ANTHROPIC_VERSION = "2023-06-01";

function requestHeaders(
  given: IncomingHttpHeaders,
  { kind, apiKey, body }: Request,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...only(given, PASSED_TO_PROVIDER) };
  // Packed answers would come in lumps.
  headers["accept-encoding"] = "identity";
  if (body) headers["content-length"] = body.length;
  if (kind === "anthropic") headers["anthropic-version"] ??= ANTHROPIC_VERSION;
  if (apiKey === null) return headers;
  if (kind === "anthropic") headers["x-api-key"] = apiKey;
  else headers.authorization = `Bearer ${apiKey}`;
  return headers;
}

const PASSED_TO_RUNNER =
  /^(?:content-type|content-encoding|retry-after|retry-after-ms|anthropic-ratelimit-[\w-]+|x-ratelimit-[\w-]+|request-id|x-request-id)$/;

function responseHeaders(given: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(only(given, PASSED_TO_RUNNER));
  const safe = kept.map(([name, value]) => [name, withoutSecrets(String(value))] as const);
  return { ...Object.fromEntries(safe), [FROM_PROVIDER_HEADER]: "1" };
}

function only(headers: IncomingHttpHeaders, names: RegExp): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}

function unreachable(c: Context, log: Log, provider: string, error: unknown): Response {
  const code = codeOf(error);
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
    `The provider ${provider} answered ${status} and pointed elsewhere, which is not followed. Put its final address in the settings.`,
  );
}

function badGateway(c: Context, code: string, message: string): Response {
  return c.json(refusalBody(new Refusal("unavailable", code, message)), 502);
}

/** Errors of the network tell addresses in their text; their code is enough. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "no reason given";
}
