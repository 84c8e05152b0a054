/** The listener: HTTP requests to the app, upgrades to the live and runner sockets. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { TrustedProxies } from "#base/net/trusted-proxy.ts";
import { Refusal } from "#base/refusal.ts";
import { type Kernel, partyOf, requireMay } from "#engine/index.ts";
import { readyBacklog } from "#engine/runs/index.ts";
import { sessionsApi } from "#engine/sessions/contract.ts";
import type { MetricFamily } from "#features/metrics/contract.ts";
import { SessionFeeds, streamEvents } from "#surfaces/live/index.ts";
import { type Coordination, mcpRoutes, type PromptOrchestrator } from "#surfaces/mcp/index.ts";
import { createAgentRefusals } from "./agent-refusals.ts";
import { type App, createApp, isPublic, principalOf, requireCaller, sessionIdOf } from "./app.ts";
import { openApiDocument } from "./document/openapi.ts";
import { endpoint } from "./endpoint.ts";
import { featureRoutes } from "./feature-routes.ts";
import { fileRoutes } from "./files.ts";
import { gatewayRoutes } from "./gateway/gateway.ts";
import type { ModelGateway } from "./gateway/model-gateway.ts";
import { type Authenticator, type Callers, createCallers } from "./guards/callers.ts";
import { allowedHosts } from "./guards/guard.ts";
import { createProxyWatch } from "./guards/transport.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { type Holders, previewRoutes } from "./previews.ts";
import { authRoutes, type SignIn } from "./routes/auth-routes.ts";
import { cookieNameFor } from "./routes/cookie-jar.ts";
import { promptRoutes } from "./routes/prompt-routes.ts";
import { runRoutes } from "./routes/run-routes.ts";
import { type RunnerTokens, runnerRoutes } from "./routes/runner-routes.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { workspaceRoutes } from "./routes/workspace-routes.ts";
import { createMessageRates } from "./sockets/message-rates.ts";
import { StreamSlots } from "./sockets/stream-slots.ts";
import { limitUnfinished } from "./sockets/unfinished.ts";
import { Upgrades } from "./sockets/upgrades.ts";

export interface HttpOptions {
  kernel: Kernel;
  auth: Authenticator & SignIn & RunnerTokens & Holders;
  clock: Clock;
  log: Log;
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** Proxies whose forwarded headers are trusted. */
  trustedProxy: TrustedProxies | undefined;
  /** `MUSTER_INSECURE_HTTP`. */
  insecureHttp: boolean;
  rateLimit: number;
  /** Gateway of turns to the organisation's models. */
  gateway: ModelGateway;
  /** Sends a client's prompt to its person's orchestrator. */
  promptOrchestrator: PromptOrchestrator;
  /** Boards and inbox of a person, for such a client. */
  coordination: Coordination;
  /** Key that signs the addresses of previews. */
  secretKey: string;
  /** Turns and model requests, counted by this server. */
  turnMetrics: () => MetricFamily[];
  /** The server's own folder; `/metrics` reports the space on its disk. */
  home: string;
  /** Folder of the built pages. */
  filesFolder: string;
  version: string;
}

export interface HttpServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_HEADER_BYTES = 16 * 1024;

export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { kernel, auth, clock, log, host, publicUrl } = options;
  let port = options.port;
  const hosts = allowedHosts(host, () => port, publicUrl);
  const secure = publicUrl?.startsWith("https:") ?? false;
  const cookieName = () => cookieNameFor(port, secure);
  const baseUrl = () =>
    publicUrl?.replace(/\/$/, "") ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const callers = createCallers({ auth, clock, cookieName, rateLimit: options.rateLimit });
  const proxies = createProxyWatch(options.trustedProxy, clock.now, (proxy) =>
    log.warn(
      { proxy },
      "forwarded headers come from a proxy that MUSTER_TRUSTED_PROXY does not name; everybody behind it counts as one address",
    ),
  );
  const streams = new StreamSlots();
  const metrics = createMetrics({
    kernel,
    now: clock.now,
    countUntrusted: () => proxies.count,
    countStreams: () => streams.totals,
    turns: options.turnMetrics,
    home: options.home,
  });
  const feeds = new SessionFeeds(kernel.engine.announcer, kernel.sessions.eventPage, (error) =>
    log.error({ err: error }, "a live reader failed"),
  );

  const { trustedProxy, insecureHttp } = options;
  const noteRefusal = createAgentRefusals(kernel.engine, log);
  const app = createApp({
    callers,
    hosts,
    trustedProxy,
    insecureHttp,
    proxies,
    noteRefusal,
    log,
  });
  plainRoutes(app, kernel, callers, metrics);
  sessionRoutes(app, kernel);
  promptRoutes(app, kernel);
  runRoutes(app, kernel, streams);
  runnerRoutes(app, kernel, auth);
  workspaceRoutes(app, kernel);
  featureRoutes(app, kernel);
  gatewayRoutes(app, { gateway: options.gateway, log });
  previewRoutes(app, { kernel, holders: auth, callers, clock, secretKey: options.secretKey });
  authRoutes(app, auth, {
    name: cookieName,
    secure,
    baseUrl,
  });
  eventRoute(app, { kernel, feeds, callers, clock, streams });
  const { version, promptOrchestrator, coordination } = options;
  mcpRoutes(app, {
    kernel,
    callers,
    feeds,
    streams,
    clock,
    log,
    version,
    promptOrchestrator,
    coordination,
  });
  app.hono.get("/api/openapi.json", (c) => c.json(openApiDocument(app.specs, version, isPublic)));
  fileRoutes(app, options.filesFolder);

  const server = listener(app, metrics);
  limitUnfinished(server);
  const rates = createMessageRates(options.rateLimit, clock);
  const upgrades = new Upgrades({ ...options, hosts, callers, feeds, streams, rates });
  server.on("upgrade", (request, socket, head) => upgrades.take(request, socket, head));
  await listen(server, host, options.port);
  port = (server.address() as AddressInfo).port;
  return {
    url: baseUrl(),
    port,
    close: () => closeAll(server, upgrades),
  };
}

function listener(app: App, metrics: Metrics): Server {
  const handle = getRequestListener(app.hono.fetch as never, { overrideGlobalObjects: false });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => {
      // `/api/v1/…` is the same as `/api/…`.
      if (request.url?.startsWith("/api/v1/"))
        request.url = `/api/${request.url.slice("/api/v1/".length)}`;
      response.on("close", () => metrics.observe(request.method ?? "", response.statusCode));
      void handle(request, response);
    },
  );
  return server;
}

function plainRoutes(app: App, kernel: Kernel, callers: Callers, metrics: Metrics): void {
  app.hono.get("/health", (c) => c.json({ ok: true }));
  app.hono.get("/ready", async (c) => {
    const { store } = kernel.engine;
    await store.read((reader) => readyBacklog(reader, 0));
    await store.checkWritable();
    return c.json({ ok: true });
  });
  app.hono.get("/metrics", requireCaller(callers), async (c) => {
    requireMay(principalOf(c), "operate");
    const { type, body } = await metrics.text(principalOf(c));
    return c.body(body, 200, { "Content-Type": type });
  });
}

interface EventRouteParts {
  kernel: Kernel;
  feeds: SessionFeeds;
  callers: Callers;
  clock: Clock;
  streams: StreamSlots;
}

function eventRoute(app: App, { kernel, feeds, callers, clock, streams }: EventRouteParts): void {
  endpoint(app, sessionsApi.events, async ({ c, query }) => {
    const id = sessionIdOf(c);
    const { lastSeq, until } = await kernel.sessions.authorizeRead(principalOf(c), id);
    const last = Number(c.req.header("last-event-id"));
    const requested = query.after ?? (Number.isSafeInteger(last) && last >= 0 ? last : 0);
    // A cursor beyond the end is from before a restore; the present events follow it.
    const after = Math.min(requested, lastSeq);
    const caller = c.get("caller");
    const { incoming, outgoing } = c.env;
    const isOver = () => until !== null && clock.now() >= until;
    const ended = streams.enter("events", caller);
    streamEvents(feeds, outgoing as never, {
      sessionId: id,
      after,
      party: partyOf(caller.principal),
      stillGood: async () => !isOver() && (await callers.isStillGood(incoming.headers, caller)),
      ended,
    });
    return RESPONSE_ALREADY_SENT;
  });
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") return reject(error);
      reject(
        new Refusal(
          "conflict",
          "port_in_use",
          `Port ${port} on ${host} is in use. Stop the program that uses it, or set MUSTER_PORT to another port.`,
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

async function closeAll(server: Server, upgrades: Upgrades): Promise<void> {
  upgrades.close();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 500).unref();
  await closed;
}
