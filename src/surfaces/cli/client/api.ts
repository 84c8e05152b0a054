/**
 * The typed client for commands, and the only place that sends HTTP to the server. Calls throw a
 * `ServerRefusal` when the server refuses, and a `Refusal` of kind `unavailable` without a response.
 */

import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { Refusal } from "#base/refusal.ts";
import { type Client, type ClientRequest, createClient, type Transport } from "#client/index.ts";
import type { Page } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { ServerAddress } from "./find-server.ts";
import { refusalFrom, ServerRefusal } from "./server-refusal.ts";

const TRIES = 5;
const FIRST_PAUSE_MS = 200;
const HANDSHAKE_MS = 10_000;
const MAX_FRAME_BYTES = 1024 * 1024;
const LOST_ON_THE_WAY = /^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

/** A call of the client that returns a page. */
type ListCall = (input: never) => Promise<Page<unknown>>;
type ListInput<C extends ListCall> = NonNullable<Parameters<C>[0]>;
type ItemOf<C extends ListCall> = Awaited<ReturnType<C>>["items"][number];

export interface Api extends Client {
  readonly url: string;
  /** The same calls, repeated for a while when the response is lost: for requests that are safe to repeat. */
  readonly again: Client;
  /** Reads all pages of a list. */
  listAll<C extends ListCall>(call: C, input: ListInput<C>): Promise<ItemOf<C>[]>;
  /** Opens an event stream and resolves with its body. */
  stream(path: string, signal: AbortSignal | undefined): Promise<AsyncIterable<Uint8Array>>;
  /** Starts to open a socket. */
  socket(path: string): WebSocket;
}

export function createApi({ url, key }: ServerAddress): Api {
  const authorization = `Bearer ${key}`;

  async function fetchOk({ path, ...init }: RequestInit & { path: string }): Promise<Response> {
    const response = await fetch(`${url}${path}`, { ...init, redirect: "error" }).catch(
      (error: unknown) => {
        throw unreachable(url, error);
      },
    );
    if (!response.ok) throw refusalFrom(response.status, await bodyText(response, url));
    return response;
  }

  async function send(request: ClientRequest): Promise<unknown> {
    const text = await bodyText(await fetchOk(initOf(request, authorization)), url);
    if (text === "") return {};
    try {
      return JSON.parse(text);
    } catch {
      throw new Refusal(
        "unavailable",
        "not_muster",
        `There is no Muster server at ${url}. Check --server or MUSTER_SERVER.`,
      );
    }
  }

  return {
    ...createClient(send),
    url,
    again: createClient(repeatedWhileLost(send)),
    listAll,
    async stream(path, signal) {
      const headers = { accept: "text/event-stream", authorization };
      const { body } = await fetchOk({ path, headers, ...(signal && { signal }) });
      if (!body) throw unreachable(url, new Error("the answer has no body"));
      return body as AsyncIterable<Uint8Array>;
    },
    socket: (path) =>
      new WebSocket(`${url.replace(/^http/, "ws")}${path}`, {
        headers: { authorization },
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: MAX_FRAME_BYTES,
      }),
  };
}

function initOf(
  { method, path, body, idempotencyKey, signal, headers: own }: ClientRequest,
  authorization: string,
): RequestInit & { path: string } {
  const headers: Record<string, string> = { accept: "application/json", authorization, ...own };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (idempotencyKey) headers["idempotency-key"] = idempotencyKey;
  return {
    method,
    path,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  };
}

function repeatedWhileLost(send: Transport): Transport {
  return async (request) => {
    for (let tried = 1; ; tried++) {
      try {
        return await send(request);
      } catch (error) {
        // A server that was unreachable from the start is not worth waiting for.
        const mayPass =
          tried === 1 ? isAnswerLost(error) : isAnswerLost(error) || isUnreachable(error);
        if (tried === TRIES || !mayPass) throw error;
        await pause(FIRST_PAUSE_MS * 2 ** (tried - 1));
      }
    }
  };
}

async function listAll<C extends ListCall>(call: C, input: ListInput<C>): Promise<ItemOf<C>[]> {
  // The types of list routes differ only in their filters; all take a limit and a cursor.
  const read = call as unknown as (input: object) => Promise<Page<ItemOf<C>>>;
  const given = input as { query?: object };
  const items: ItemOf<C>[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ ...given, query: { ...given.query, limit: PAGE_LIMIT_MAX, cursor } });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return items;
}

/** True while the server is away, or asks to slow down. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerRefusal) return error.status >= 500 || error.status === 429;
  return isUnreachable(error);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Refusal && error.code === "not_reachable";
}

/** True if a server is there, but may or may not have carried the request out. */
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
