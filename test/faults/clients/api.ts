/** An HTTP client that expects the program to be killed at any moment. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ApiError,
  type Client,
  createClient,
  ROUTE_TABLE,
  routePath,
  type Transport,
} from "#client/index.ts";
import type { Page } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";

const ANSWER_WITHIN_MS = 30_000;
const RETRY_EVERY_MS = 40;

export interface ApiResponse {
  status: number;
  body: Record<string, unknown>;
  retryAfter: string | null;
  tookMs: number;
}

export interface SseFrame {
  seq: number;
  type: string;
  json: string;
}

/** The connection broke, or no answer came in time: the outcome of the request is unknown. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

export interface ApiOptions {
  url: string;
  key: string;
  /** Called for every answer, also for those that are retried. */
  onAnswer?: (answer: ApiResponse, what: string) => void;
}

export class Api {
  /** Sends each request once. A refusal is thrown as an `ApiError`, a lost answer as a `NoAnswer`. */
  readonly once: Client;
  /** Retries as `insist` does; its requests must be safe to repeat. */
  readonly patient: Client;
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.once = createClient(transportOver((...request) => this.send(...request)));
    this.patient = createClient(transportOver((...request) => this.insist(...request)));
  }

  /** Sends one request, without retries, for checks of its status. */
  async send(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const { url, key, onAnswer } = this.#options;
    const startedAt = performance.now();
    let answer: ApiResponse;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      answer = {
        status: response.status,
        body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>,
        retryAfter: response.headers.get("retry-after"),
        tookMs: performance.now() - startedAt,
      };
    } catch (error) {
      throw new NoAnswer(`${method} ${path}`, { cause: error });
    }
    onAnswer?.(answer, `${method} ${path}`);
    return answer;
  }

  /** Retries until there is an answer other than "not now". The request must be safe to repeat. */
  async insist(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    withinMs = 60_000,
  ): Promise<ApiResponse> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const answer = await this.send(method, path, body, headers).catch((error: unknown) => {
        if (!(error instanceof NoAnswer) || Date.now() > deadline) throw error;
        return undefined;
      });
      if (answer && answer.status !== 503) return answer;
      if (Date.now() > deadline) throw new NoAnswer(`${method} ${path}: still refused`);
      await sleep(RETRY_EVERY_MS);
    }
  }

  /** Reads a path; any refusal is an error. */
  async get(path: string): Promise<Record<string, unknown>> {
    const answer = await this.insist("GET", path);
    if (answer.status !== 200)
      throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** All pages of a list. */
  async list<T>(path: string, limit = 200): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const glue = path.includes("?") ? "&" : "?";
      const page = await this.get(`${path}${glue}limit=${limit}${query}`);
      items.push(...(page.items as T[]));
      cursor = page.next as string | null;
    } while (cursor !== null);
    return items;
  }

  /** The durable events of one connection, until it breaks, `signal` aborts or it falls silent. */
  async *events(
    sessionId: string,
    after: number,
    signal: AbortSignal,
    silentMs: number,
  ): AsyncGenerator<SseFrame> {
    const { url, key } = this.#options;
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener("abort", stop);
    let silence = setTimeout(stop, silentMs);
    try {
      const path = routePath(ROUTE_TABLE.sessions.events, { id: sessionId, query: { after } });
      const response = await fetch(url + path, {
        headers: { authorization: `Bearer ${key}` },
        signal: over.signal,
      });
      if (response.status !== 200 || !response.body)
        throw new NoAnswer(`events: ${response.status}`);
      let text = "";
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(silence);
        silence = setTimeout(stop, silentMs);
        const frames = (text + chunk).split("\n\n");
        text = frames.pop() ?? "";
        yield* frames.flatMap(parseFrame);
      }
    } catch (error) {
      if (!over.signal.aborted) throw new NoAnswer("events", { cause: error });
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", stop);
      over.abort();
    }
  }
}

type Send = (
  method: string,
  path: string,
  body: object | undefined,
  headers: Record<string, string>,
) => Promise<ApiResponse>;

function transportOver(send: Send): Transport {
  return async ({ method, path, body, headers, idempotencyKey }) => {
    const key = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    const answer = await send(method, path, body as object | undefined, { ...headers, ...key });
    const { status, body: content } = answer;
    if (status < 300) return content;
    const { code = `http_${status}` } = (content.error ?? {}) as { code?: string };
    // Names the request, because the report of a round shows nothing but this message.
    throw new ApiError(status, code, `${method} ${path}: ${status} ${JSON.stringify(content)}`);
  };
}

/** Undefined for a request that the server refused, which a client of a round must bear. */
export async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Items of all pages of a list. */
export async function listAll<T>(
  readPage: (page: { limit: number; cursor: string | undefined }) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<T> = await readPage({ limit: PAGE_LIMIT_MAX, cursor });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return items;
}

/** Returns nothing for deltas and heartbeats. */
function parseFrame(frame: string): SseFrame[] {
  let seq: number | undefined;
  let type = "";
  let json = "";
  for (const line of frame.split("\n")) {
    if (line.startsWith("id: ")) seq = Number(line.slice(4));
    else if (line.startsWith("event: ")) type = line.slice(7);
    else if (line.startsWith("data: ")) json += line.slice(6);
  }
  return seq === undefined ? [] : [{ seq, type, json }];
}

/** A digest that stands for an event's whole text. */
export function digestOf(json: string): string {
  return createHash("sha1").update(json).digest("base64url").slice(0, 12);
}
