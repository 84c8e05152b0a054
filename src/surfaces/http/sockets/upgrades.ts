/** Requests that become sockets: `/api/live` of people and agents, `/api/runners/connect` of runners. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { clientAddress, type TrustedProxies } from "#base/net/trusted-proxy.ts";
import { Refusal } from "#base/refusal.ts";
import type { Kernel, Principal } from "#engine/index.ts";
import { MAX_RUNNER_FRAME_BYTES } from "#protocol/bounds.ts";
import { LIVE_PATH } from "#protocol/live-path.ts";
import { LIVE_PROTOCOL } from "#protocol/page-key.ts";
import { MAX_LIVE_FRAME_BYTES, type SessionFeeds, serveLive } from "#surfaces/live/index.ts";
import { refusalBody, refusalStatus } from "../errors.ts";
import type { Caller, Callers } from "../guards/callers.ts";
import { type AllowedHosts, checkHost, isOwnOrigin, refuseOrigin } from "../guards/guard.ts";
import { requireHttps } from "../guards/transport.ts";
import type { MessageRates } from "./message-rates.ts";
import { serveRunner } from "./runner-socket.ts";
import type { StreamKind, StreamSlots } from "./stream-slots.ts";

export interface UpgradeParts {
  kernel: Kernel;
  clock: Clock;
  log: Log;
  hosts: AllowedHosts;
  callers: Callers;
  feeds: SessionFeeds;
  streams: StreamSlots;
  rates: MessageRates;
  trustedProxy: TrustedProxies | undefined;
  insecureHttp: boolean;
}

/** A refused peer gets a response; one that does not read it is cut off. */
const REFUSED_WITHIN_MS = 2_000;

interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

export class Upgrades {
  readonly #parts: UpgradeParts;
  readonly #live: WebSocketServer;
  readonly #runner: WebSocketServer;

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
    const options = { noServer: true, perMessageDeflate: false, clientTracking: true } as const;
    this.#live = new WebSocketServer({
      ...options,
      maxPayload: MAX_LIVE_FRAME_BYTES,
      // Never selects the protocol that carries the page's key.
      handleProtocols: (offered) => (offered.has(LIVE_PROTOCOL) ? LIVE_PROTOCOL : false),
    });
    this.#runner = new WebSocketServer({ ...options, maxPayload: MAX_RUNNER_FRAME_BYTES });
  }

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    this.#upgrade({ request, socket, head }).catch((error: unknown) =>
      refuseUpgrade(socket, error, this.#parts.log),
    );
  }

  close(): void {
    for (const { clients } of [this.#live, this.#runner])
      for (const client of clients) client.close(1001, "server is stopping");
  }

  async #upgrade(knock: UpgradeRequest): Promise<void> {
    const { request } = knock;
    const caller = await this.#identify(request);
    const { principal } = caller;
    const path = (request.url ?? "").split("?")[0]?.replace(/^\/api\/v1\//, "/api/");
    if (path === LIVE_PATH && principal.kind !== "runner")
      return this.#acceptLive(knock, caller, principal);
    if (path === "/api/runners/connect" && principal.kind === "runner")
      return this.#acceptRunner(knock, caller, principal);
    throw new Refusal(
      "not_found",
      "not_found",
      "There is no socket at this address for this credential.",
    );
  }

  #identify(request: IncomingMessage): Promise<Caller> {
    const { hosts, callers } = this.#parts;
    const proto = request.headers["x-forwarded-proto"];
    requireHttps(this.#parts, {
      remote: request.socket.remoteAddress,
      local: request.socket.localAddress,
      host: request.headers.host,
      forwardedProto: Array.isArray(proto) ? proto[0] : proto,
    });
    checkHost(hosts, request.headers.host);
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin(hosts, origin)) throw refuseOrigin();
    const forwarded = request.headers["x-forwarded-for"];
    const address = clientAddress(
      request.socket.remoteAddress,
      // Node joins repeated headers, whatever its types say.
      Array.isArray(forwarded) ? forwarded.join() : forwarded,
      this.#parts.trustedProxy,
    );
    return callers.identify(request.headers, address, true);
  }

  #acceptLive(knock: UpgradeRequest, caller: Caller, principal: Principal): void {
    const { kernel, callers, feeds, rates, clock, log } = this.#parts;
    this.#accept(this.#live, knock, { kind: "live", caller }, (ws) =>
      serveLive(ws, principal, {
        feeds,
        announcer: kernel.engine.announcer,
        authorizeRead: kernel.sessions.authorizeRead,
        findBoard: (who, id) => kernel.sessions.topFor(who, id, "task.read"),
        now: clock.now,
        stillGood: () => callers.isStillGood(knock.request.headers, caller),
        rate: rates.live(caller),
        log,
      }),
    );
  }

  #acceptRunner(
    knock: UpgradeRequest,
    caller: Caller,
    principal: Extract<Principal, { kind: "runner" }>,
  ): void {
    const { kernel, callers, rates, log } = this.#parts;
    this.#accept(this.#runner, knock, { kind: "runner", caller }, (ws) =>
      serveRunner(ws, principal, kernel.dispatcher, {
        stillGood: () => callers.isStillGood(knock.request.headers, caller),
        rate: rates.runner(caller),
        log,
      }),
    );
  }

  #accept(
    server: WebSocketServer,
    { request, socket, head }: UpgradeRequest,
    { kind, caller }: { kind: StreamKind; caller: Caller },
    serve: (ws: WebSocket) => void,
  ): void {
    const leave = this.#parts.streams.enter(kind, caller);
    // The slot belongs to the connection, whether it becomes a socket or not.
    socket.once("close", leave);
    if (socket.destroyed) leave();
    server.handleUpgrade(request, socket, head, (ws) => {
      // A frame that breaks the protocol closes its own socket and nothing else.
      ws.on("error", () => ws.terminate());
      serve(ws);
    });
  }
}

function refuseUpgrade(socket: Duplex, error: unknown, log: Log): void {
  if (!(error instanceof Refusal)) log.error({ err: error }, "an upgrade failed");
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal("unavailable", "internal_error", "Something went wrong on the server.");
  const body = JSON.stringify(refusalBody(refusal));
  const status = refusalStatus(refusal);
  const { retryAfterMs } = refusal;
  const retry =
    retryAfterMs === undefined ? "" : `Retry-After: ${Math.ceil(retryAfterMs / 1_000)}\r\n`;
  // The peer may leave its half open as long as it likes, and need not read.
  socket.once("finish", () => socket.destroy());
  setTimeout(() => socket.destroy(), REFUSED_WITHIN_MS).unref();
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\n${retry}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
