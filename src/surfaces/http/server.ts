/** The listener: HTTP requests to the app, upgrades to the live and runner sockets. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { clientAddress, type TrustedProxies } from "#base/net/trusted-proxy.ts";
import { Refusal } from "#base/refusal.ts";
import { type Kernel, requireMay } from "#engine/index.ts";
import { readyBacklog } from "#engine/runs/index.ts";
import type { MetricFamily } from "#features/metrics/contract.ts";
import { MAX_RUNNER_FRAME_BYTES } from "#protocol/bounds.ts";
import { LIVE_PROTOCOL } from "#protocol/page-key.ts";
import {
  MAX_LIVE_FRAME_BYTES,
  SessionFeeds,
  serveLive,
  streamEvents,
} from "#surfaces/live/index.ts";
import { type Coordination, mcpRoutes, type PromptOrchestrator } from "#surfaces/mcp/index.ts";
import { createAgentRefusals } from "./agent-refusals.ts";
import { type App, createApp, principalOf, requireCaller, sessionIdOf } from "./app.ts";
import { type Authenticator, type Callers, createCallers } from "./callers.ts";
import { endpoint } from "./endpoint.ts";
import { refusalBody, refusalStatus } from "./errors.ts";
import { featureRoutes } from "./feature-routes.ts";
import { fileRoutes } from "./files.ts";
import { gatewayRoutes } from "./gateway.ts";
import { type AllowedHosts, allowedHosts, checkHost, isOwnOrigin, refuseOrigin } from "./guard.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { ModelGateway } from "./model-gateway.ts";
import { openApiDocument } from "./openapi.ts";
import { type Holders, previewRoutes } from "./previews.ts";
import { authRoutes, type SignIn } from "./routes/auth-routes.ts";
import { cookieNameFor } from "./routes/cookie-jar.ts";
import { promptRoutes } from "./routes/prompt-routes.ts";
import { runRoutes } from "./routes/run-routes.ts";
import { type RunnerTokens, runnerRoutes } from "./routes/runner-routes.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { workspaceRoutes } from "./routes/workspace-routes.ts";
import { serveRunner } from "./runner-socket.ts";
import { createProxyWatch, requireHttps } from "./transport.ts";

export interface HttpOptions {
  kernel: Kernel;
  auth: Authenticator & SignIn & RunnerTokens & Holders;
  clock: Clock;
  log: Log;
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** Whose word counts on where a request came from. */
  trustedProxy: TrustedProxies | undefined;
  /** `MUSTER_INSECURE_HTTP`. */
  insecureHttp: boolean;
  rateLimit: number;
  /** By which turns reach the organisation's models. */
  gateway: ModelGateway;
  /** Where a client of a person's own sends what is for their orchestrator. */
  promptOrchestrator: PromptOrchestrator;
  /** What such a client sees of a person's boards and inbox. */
  coordination: Coordination;
  /** Signs the addresses of previews. */
  secretKey: string;
  /** Turns and model requests, counted by this server. */
  turnMetrics: () => MetricFamily[];
  /** The server's own folder; `/metrics` reports the space on its disk. */
  home: string;
  /** Where the built pages are. */
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
  const sockets = socketServers();
  const metrics = createMetrics({
    kernel,
    now: clock.now,
    countUntrusted: () => proxies.count,
    countStreams: () => ({
      live: sockets.live.clients.size,
      runner: sockets.runner.clients.size,
    }),
    turns: options.turnMetrics,
    home: options.home,
  });
  const feeds = new SessionFeeds(kernel.engine.announcer, kernel.sessions.events, (error) =>
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
  runRoutes(app, kernel);
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
  eventRoute(app, kernel, feeds, callers, clock);
  const { version, promptOrchestrator, coordination } = options;
  mcpRoutes(app, { kernel, callers, feeds, clock, log, version, promptOrchestrator, coordination });
  app.hono.get("/api/openapi.json", (c) => c.json(openApiDocument(app.specs, version)));
  fileRoutes(app, options.filesFolder);

  const server = listener(app, metrics);
  server.on("upgrade", (request, socket, head) => {
    upgrade({ request, socket, head, hosts, callers, sockets, options, feeds }).catch(
      (error: unknown) => refuseUpgrade(socket, error, log),
    );
  });
  await listen(server, host, options.port);
  port = (server.address() as AddressInfo).port;
  return {
    url: baseUrl(),
    port,
    close: () => closeAll(server, sockets),
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

function eventRoute(
  app: App,
  kernel: Kernel,
  feeds: SessionFeeds,
  callers: Callers,
  clock: Clock,
): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/sessions/{id}/events",
      summary:
        "Its log as server-sent events: replayed after a seq, then live, with deltas in between",
      tag: "Sessions",
      query: z.strictObject({ after: z.coerce.number().int().min(0).optional() }),
      response: z.unknown(),
    },
    async ({ c, query }) => {
      const id = sessionIdOf(c);
      const { lastSeq, until } = await kernel.sessions.authorizeRead(principalOf(c), id);
      const last = Number(c.req.header("last-event-id"));
      const asked = query.after ?? (Number.isSafeInteger(last) && last >= 0 ? last : 0);
      // A cursor from beyond the end is from before a restore; what there is now follows it.
      const after = Math.min(asked, lastSeq);
      const caller = c.get("caller");
      const { incoming, outgoing } = c.env;
      const isOver = () => until !== null && clock.now() >= until;
      streamEvents(
        feeds,
        id,
        after,
        outgoing as never,
        async () => !isOver() && (await callers.isStillGood(incoming.headers, caller)),
      );
      return RESPONSE_ALREADY_SENT;
    },
  );
}

interface Sockets {
  live: WebSocketServer;
  runner: WebSocketServer;
}

function socketServers(): Sockets {
  const options = { noServer: true, perMessageDeflate: false, clientTracking: true } as const;
  return {
    live: new WebSocketServer({
      ...options,
      maxPayload: MAX_LIVE_FRAME_BYTES,
      // Never the one that carries the page's key.
      handleProtocols: (offered) => (offered.has(LIVE_PROTOCOL) ? LIVE_PROTOCOL : false),
    }),
    runner: new WebSocketServer({ ...options, maxPayload: MAX_RUNNER_FRAME_BYTES }),
  };
}

interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  hosts: AllowedHosts;
  callers: Callers;
  sockets: Sockets;
  options: HttpOptions;
  feeds: SessionFeeds;
}

async function upgrade(parts: Upgrade): Promise<void> {
  const { request, socket, head, hosts, callers, sockets, options, feeds } = parts;
  socket.on("error", () => socket.destroy());
  const { kernel, log } = options;
  const proto = request.headers["x-forwarded-proto"];
  requireHttps(options, {
    remote: request.socket.remoteAddress,
    local: request.socket.localAddress,
    host: request.headers.host,
    forwardedProto: Array.isArray(proto) ? proto[0] : proto,
  });
  checkHost(hosts, request.headers.host);
  const { origin } = request.headers;
  if (origin !== undefined && !isOwnOrigin(hosts, origin)) throw refuseOrigin();
  const path = (request.url ?? "").split("?")[0]?.replace(/^\/api\/v1\//, "/api/");
  const forwarded = request.headers["x-forwarded-for"];
  const address = clientAddress(
    request.socket.remoteAddress,
    // Node joins repeated ones, whatever its types say.
    Array.isArray(forwarded) ? forwarded.join() : forwarded,
    options.trustedProxy,
  );
  const caller = await callers.identify(request.headers, address, true);
  const { principal } = caller;
  if (path === "/api/live" && principal.kind !== "runner") {
    return accept(sockets.live, request, socket, head, (ws) => {
      serveLive(ws, principal, {
        feeds,
        announcer: kernel.engine.announcer,
        authorizeRead: kernel.sessions.authorizeRead,
        findBoard: (who, id) => kernel.sessions.topFor(who, id, "task.read"),
        now: options.clock.now,
        stillGood: () => callers.isStillGood(request.headers, caller),
        log,
      });
    });
  }
  if (path === "/api/runners/connect" && principal.kind === "runner") {
    return accept(sockets.runner, request, socket, head, (ws) =>
      serveRunner(ws, principal, kernel.dispatcher, {
        stillGood: () => callers.isStillGood(request.headers, caller),
        log,
      }),
    );
  }
  throw new Refusal(
    "not_found",
    "not_found",
    "There is no socket at this address for this credential.",
  );
}

function accept(
  server: WebSocketServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  serve: (ws: WebSocket) => void,
): void {
  server.handleUpgrade(request, socket, head, (ws) => {
    // A frame that breaks the protocol closes its own socket and nothing else.
    ws.on("error", () => ws.terminate());
    serve(ws);
  });
}

function refuseUpgrade(socket: Duplex, error: unknown, log: Log): void {
  if (!(error instanceof Refusal)) log.error({ err: error }, "an upgrade failed");
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal("unavailable", "internal_error", "Something went wrong on the server.");
  const body = JSON.stringify(refusalBody(refusal));
  const status = refusalStatus(refusal);
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") return reject(error);
      reject(
        new Refusal(
          "conflict",
          "port_in_use",
          `Port ${port} on ${host} is taken. Stop what uses it, or set MUSTER_PORT to another one.`,
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

async function closeAll(server: Server, sockets: Sockets): Promise<void> {
  for (const group of Object.values(sockets) as WebSocketServer[])
    for (const client of group.clients) client.close(1001, "server is stopping");
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 500).unref();
  await closed;
}
