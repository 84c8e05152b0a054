/** Sends requests of the client with `fetch`. Throws an `ApiError` for every answer but a success. */
import { ApiError, apiErrorFrom } from "./api-error.ts";
import type { ClientRequest, Transport } from "./client.ts";

export interface FetchTransportOptions {
  /** Address of the server without a slash at the end; empty in a page that it serves. */
  baseUrl: string;
  /** API key, sent as a bearer token. */
  key?: string | undefined;
  /** Headers of every request, read anew for each. */
  headers?: (() => Readonly<Record<string, string>>) | undefined;
  fetch?: typeof fetch | undefined;
}

export function fetchTransport(options: FetchTransportOptions): Transport {
  return async (request) => {
    const response = await send(options, request);
    const answer = parseJson(await readText(response));
    if (response.ok) return answer;
    throw refusalOf(response, answer);
  };
}

/** Fetches an answer that is a file; `path` is made by `routePath`. */
export async function fetchFile(options: FetchTransportOptions, path: string): Promise<Blob> {
  const headers = { accept: "*/*" };
  const response = await send(options, { method: "GET", path, body: undefined, headers });
  if (response.ok) return response.blob();
  throw refusalOf(response, parseJson(await readText(response)));
}

function refusalOf({ status, headers }: Response, answer: unknown): ApiError {
  return apiErrorFrom(status, headers.get("retry-after"), answer);
}

async function send(
  { baseUrl, key, headers, fetch: fetchImpl = fetch }: FetchTransportOptions,
  { method, path, body, idempotencyKey, signal, headers: own }: ClientRequest,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: {
      accept: "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      ...headers?.(),
      ...own,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  };
  try {
    return await fetchImpl(`${baseUrl}${path}`, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const message = "The server did not answer. Check the connection and try again.";
    throw new ApiError(0, "network", message, { cause });
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    const message = "The connection was cut before the answer arrived.";
    throw new ApiError(0, "network", message, { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
