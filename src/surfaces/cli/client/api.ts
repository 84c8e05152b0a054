/**
 * The only place that speaks HTTP to the server. It throws a `ServerRefusal` for what the server
 * refused and a `Refusal` of kind `unavailable` when no answer came.
 */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { Refusal } from "#base/refusal.ts";
import type { Page } from "#protocol/page.ts";
import type { ServerAddress } from "./find-server.ts";
import { refusalFrom, ServerRefusal } from "./server-refusal.ts";

const TRIES = 5;
const FIRST_PAUSE_MS = 200;
const PAGE_LIMIT = 200;
const HANDSHAKE_MS = 10_000;
const MAX_FRAME_BYTES = 1024 * 1024;
const LOST_ON_THE_WAY = /^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

export interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface Api {
  readonly url: string;
  call<T>(path: string, call?: Call): Promise<T>;
  /** For what may safely be asked twice: goes on asking for a while when the answer is lost on the way. */
  callAgain<T>(path: string, call?: Call): Promise<T>;
  /** All pages of a list. */
  listAll<T>(path: string, query?: Call["query"]): Promise<T[]>;
  /** The body of an event stream. */
  stream(path: string, call: Call): Promise<AsyncIterable<Uint8Array>>;
  /** A socket that is being opened. */
  socket(path: string): WebSocket;
}

export function createApi({ url, key }: ServerAddress): Api {
  async function send(
    path: string,
    { method = "GET", body, query, idempotencyKey, signal }: Call,
    accept: string,
  ) {
    const headers: Record<string, string> = { accept, authorization: `Bearer ${key}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (idempotencyKey) headers["idempotency-key"] = idempotencyKey;
    const init: RequestInit = { method, headers, redirect: "error" };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const response = await fetch(`${url}${path}${queryText(query)}`, init).catch(
      (error: unknown) => {
        throw unreachable(url, error);
      },
    );
    if (!response.ok) throw refusalFrom(response.status, await bodyText(response, url));
    return response;
  }

  async function call<T>(path: string, options: Call = {}): Promise<T> {
    const text = await bodyText(await send(path, options, "application/json"), url);
    if (text === "") return {} as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new Refusal(
        "unavailable",
        "not_muster",
        `What answers at ${url} is not a Muster server. Check --server or MUSTER_SERVER.`,
      );
    }
  }

  async function callAgain<T>(path: string, options: Call = {}): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await call<T>(path, options);
      } catch (error) {
        // When nobody listened from the start there is nothing to wait for.
        const mayPass =
          tried === 1 ? isAnswerLost(error) : isAnswerLost(error) || isUnreachable(error);
        if (tried === TRIES || !mayPass) throw error;
        await pause(FIRST_PAUSE_MS * 2 ** (tried - 1));
      }
    }
  }

  return {
    url,
    call,
    callAgain,
    async listAll<T>(path: string, query: Call["query"] = {}) {
      const items: T[] = [];
      let cursor: string | undefined;
      do {
        const page: Page<T> = await call(path, { query: { ...query, limit: PAGE_LIMIT, cursor } });
        items.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      return items;
    },
    async stream(path, options) {
      const { body } = await send(path, options, "text/event-stream");
      if (!body) throw unreachable(url, new Error("the answer has no body"));
      return body as AsyncIterable<Uint8Array>;
    },
    socket: (path) =>
      new WebSocket(`${url.replace(/^http/, "ws")}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: MAX_FRAME_BYTES,
      }),
  };
}

/** The server is away, or asks to be left alone for a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerRefusal) return error.status >= 500 || error.status === 429;
  return isUnreachable(error);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Refusal && error.code === "not_reachable";
}

/** Somebody is there, but whether the request was carried out is not known. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof ServerRefusal) return [502, 503, 504].includes(error.status);
  return isUnreachable(error) && LOST_ON_THE_WAY.test(reasonOf((error as Refusal).cause));
}

function unreachable(url: string, cause: unknown): Refusal {
  const why = reasonOf(cause);
  return new Refusal(
    "unavailable",
    "not_reachable",
    `No server answers at ${url}${why === "" ? "" : ` (${why})`}. Start one with: npm start`,
    { cause },
  );
}

function reasonOf(error: unknown): string {
  const inner = (error as { cause?: { code?: unknown; message?: unknown } } | undefined)?.cause;
  return String(inner?.code ?? inner?.message ?? "");
}

async function bodyText(response: Response, url: string): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw unreachable(url, error);
  }
}

function queryText(query: Call["query"] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}
