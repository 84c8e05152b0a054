/**
 * The only place that speaks HTTP to the server. Everything it throws is an `ApiError`: what the
 * server refused, or `network` when no answer came (then the same call may safely be repeated with
 * the same idempotency key or dispatch id).
 */
import { PAGE_KEY_HEADER, PERSON_HEADER, SIGNED_OUT } from "#protocol/page-key.ts";
import { pageKey } from "./page-key.ts";

export interface ErrorDetail {
  path: string;
  message: string;
}

export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: ErrorDetail[];
  /** When the server wants to be asked again, if it says so. */
  retryAfterMs: number | undefined;

  constructor(status: number, code: string, message: string, details: ErrorDetail[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** No answer, or the server was away: it is unknown whether the call took effect. */
  get isUncertain(): boolean {
    return this.status === 0 || this.status >= 500;
  }

  /** Nobody is signed in: by a sign-out, or because the sign-in has expired. */
  get isUnauthenticated(): boolean {
    return this.status === 401;
  }

  /** The person was signed out; an expired sign-in says nothing of this. */
  get isSignOut(): boolean {
    return this.isUnauthenticated && this.details.some(({ path }) => path === SIGNED_OUT);
  }
}

export interface CallOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  query?: Record<string, string | number | boolean | undefined>;
  idempotencyKey?: string;
  /** Whose words these are: the server refuses them under somebody else's sign-in. */
  personId?: string;
  signal?: AbortSignal;
}

export async function callApi<T>(path: string, options: CallOptions = {}): Promise<T> {
  const headers: Record<string, string> = {
    accept: "application/json",
    [PAGE_KEY_HEADER]: pageKey(),
  };
  if (options.body !== undefined) headers["content-type"] = "application/json";
  if (options.idempotencyKey) headers["idempotency-key"] = options.idempotencyKey;
  if (options.personId) headers[PERSON_HEADER] = options.personId;
  const init: RequestInit = {
    method: options.method ?? "GET",
    headers,
    credentials: "same-origin",
  };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  if (options.signal) init.signal = options.signal;

  const response = await send(`${path}${queryString(options.query)}`, init);
  const text = await readText(response);
  const json = parseJson(text);
  if (!response.ok) throw errorFrom(response, json);
  return json as T;
}

/** A file behind the API, which a plain link could not fetch: a link carries no page key. */
export async function fetchFile(path: string): Promise<Blob> {
  const init: RequestInit = {
    headers: { [PAGE_KEY_HEADER]: pageKey() },
    credentials: "same-origin",
  };
  const response = await send(path, init);
  if (!response.ok) throw errorFrom(response, parseJson(await readText(response)));
  return response.blob();
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError(
      0,
      "network",
      "The server did not answer. Check the connection and try again.",
    );
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch {
    throw new ApiError(0, "network", "The connection was cut before the answer arrived.");
  }
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function errorFrom(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: unknown,
): ApiError {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const code = typeof error.code === "string" ? error.code : `http_${status}`;
  const message =
    typeof error.message === "string" && error.message !== ""
      ? error.message
      : `The server answered ${status} without saying why.`;
  const details = Array.isArray(error.details) ? error.details.filter(isDetail) : [];
  const refused = new ApiError(status, code, message, details);
  const seconds = Number.parseInt(headers.get("retry-after") ?? "", 10);
  // A date in place of seconds is left aside: only proxies write one.
  if (seconds >= 0) refused.retryAfterMs = seconds * 1_000;
  return refused;
}

function queryString(query: CallOptions["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDetail(value: unknown): value is ErrorDetail {
  return isRecord(value) && typeof value.path === "string" && typeof value.message === "string";
}

/** What to show a person, for anything that may have been thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.details.length > 0) {
    const details = error.details.map((detail) => `${detail.path}: ${detail.message}`).join("; ");
    return `${error.message} (${details})`;
  }
  return error instanceof Error ? error.message : String(error);
}
