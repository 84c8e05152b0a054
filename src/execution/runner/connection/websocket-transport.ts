/** Frames over a WebSocket, one JSON object a message, with pings so that a dead peer is noticed. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { RawData, WebSocket } from "ws";
import type { Clock } from "#base/clock.ts";
import { Refusal, type RefusalKind } from "#base/refusal.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import { createSteadyClock } from "../steady-clock.ts";
import type { Connection, ConnectionEvents, Transport } from "./transport.ts";

const CONNECT_PATH = "/api/runners/connect";
const MAX_FRAME_BYTES = 32 * 1024 * 1024;
const HANDSHAKE_TIMEOUT_MS = 5000;
const PING_EVERY_MS = 3000;
/** A peer that is silent for longer than this many pings is dead; it is noticed at the next one. */
const SILENT_PINGS = 2;
const CONGESTED_BYTES = 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Answers to the upgrade that another try will not change. */
const LASTING_STATUS: Record<number, RefusalKind> = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  409: "conflict",
  426: "unsupported",
};

export interface WebSocketTransportOptions {
  /** The server's address: http, https, ws or wss, with or without a path before `/api`. */
  serverUrl: string;
  token: string;
  /** The runner's clock. */
  clock?: Clock;
  pingEveryMs?: number;
}

export function createWebSocketTransport({
  serverUrl,
  token,
  clock = createSteadyClock(),
  pingEveryMs = PING_EVERY_MS,
}: WebSocketTransportOptions): Transport {
  const url = connectUrl(serverUrl);
  return {
    async open(events) {
      const { WebSocket: Socket } = await import("ws");
      const askedAt = clock.now();
      const socket = new Socket(url, {
        headers: { authorization: `Bearer ${token}` },
        maxPayload: MAX_FRAME_BYTES,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        perMessageDeflate: false,
      });
      await opened(socket);
      return new WebSocketConnection({ socket, events, clock, askedAt, pingEveryMs });
    },
  };
}

export function connectUrl(serverUrl: string): string {
  const url = URL.canParse(serverUrl) ? new URL(serverUrl) : null;
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) {
    throw new Refusal(
      "invalid",
      "bad_server_url",
      `"${serverUrl}" is not a server address. Write it as http://host:port.`,
    );
  }
  url.protocol = url.protocol.replace("http", "ws");
  url.pathname = url.pathname.replace(/\/+$/, "") + CONNECT_PATH;
  url.search = "";
  url.hash = "";
  return url.href;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.off("error", reject);
      resolve();
    });
    socket.once("error", reject);
    socket.once("unexpected-response", (request: ClientRequest, response: IncomingMessage) => {
      void refusalOf(response).then((error) => {
        request.destroy();
        reject(error);
      });
    });
  });
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  const status = response.statusCode ?? 0;
  const kind = LASTING_STATUS[status];
  let body = "";
  try {
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length > MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  if (!kind) return new Error(`The server answered ${status} instead of opening a connection.`);
  const told = parseError(body);
  const code = told?.code ?? (status === 409 ? "duplicate_runner" : "runner_refused");
  return new Refusal(
    kind,
    code,
    told?.message ?? `The server refused this runner (${status}). Check its address and token.`,
  );
}

function parseError(body: string): { code: string; message: string } | null {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    return typeof error?.code === "string" && typeof error.message === "string"
      ? { code: error.code, message: error.message }
      : null;
  } catch {
    return null;
  }
}

interface OpenedSocket {
  socket: WebSocket;
  events: ConnectionEvents;
  clock: Clock;
  askedAt: number;
  pingEveryMs: number;
}

class WebSocketConnection implements Connection {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #pingEveryMs: number;
  readonly #pinging: NodeJS.Timeout;
  #provenAt: number;
  #heardAt: number;

  constructor({ socket, events, clock, askedAt, pingEveryMs }: OpenedSocket) {
    this.#socket = socket;
    this.#pingEveryMs = pingEveryMs;
    this.#clock = clock;
    this.#provenAt = askedAt;
    this.#heardAt = clock.now();
    this.#pinging = setInterval(() => this.#ping(), pingEveryMs);
    socket.on("pong", (payload) => this.#onPong(payload));
    socket.on("message", (message) => this.#onMessage(message, events));
    socket.on("error", () => {}); // "close" follows and says the same.
    socket.once("close", (code, reason) => {
      clearInterval(this.#pinging);
      events.closed(`${code} ${reason.toString("utf8")}`.trim());
    });
  }

  get congested(): boolean {
    return this.#socket.bufferedAmount > CONGESTED_BYTES;
  }

  provenAt(): number {
    return this.#provenAt;
  }

  send(frame: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  close(): void {
    // A peer that does not answer the closing handshake must not hold the runner back.
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), this.#pingEveryMs).unref();
  }

  #ping(): void {
    const now = this.#clock.now();
    if (now - this.#heardAt > SILENT_PINGS * this.#pingEveryMs) this.#socket.terminate();
    else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping(String(now));
  }

  #onPong(payload: Buffer): void {
    this.#heardAt = this.#clock.now();
    const sentAt = Number(payload.toString("utf8"));
    if (sentAt > this.#provenAt && sentAt <= this.#heardAt) this.#provenAt = sentAt;
  }

  #onMessage(message: RawData, events: ConnectionEvents): void {
    this.#heardAt = this.#clock.now();
    let frame: unknown;
    try {
      frame = JSON.parse(String(message));
    } catch {
      this.#socket.close(1002, "not JSON");
      return;
    }
    if (typeof frame === "object" && frame !== null && "op" in frame)
      events.frame(frame as ServerFrame);
  }
}
