/**
 * Anthropic's Messages API: sends one request and reads its answer. No package of the SDK is used,
 * which needs twice the time for a small answer and more for a long one.
 */
import { EventSource } from "../event-source.ts";
import { WireFault } from "../failures.ts";
import type { OpenParts } from "../part-source.ts";
import type { Chunks } from "../wire-guard.ts";
import { AnthropicEvents } from "./events.ts";
import { anthropicBody } from "./request.ts";

export interface MessagesApi {
  /** Address that ends with the version. */
  baseUrl: string;
  credentials: { "x-api-key": string } | { authorization: string };
}

const VERSION = "2023-06-01";

export function openMessages({ baseUrl, credentials }: MessagesApi): OpenParts {
  const url = `${baseUrl}/messages`;
  const headers = {
    "content-type": "application/json",
    "anthropic-version": VERSION,
    "user-agent": "muster",
    ...credentials,
  };
  return async (request, target, wire) => {
    const body = JSON.stringify(anthropicBody(request, target));
    const init = { method: "POST", headers, body };
    const { response, refusal, chunks } = await wire.open(url, init).catch(nameTheCause);
    if (refusal !== null) throw refusedBy(response, refusal);
    if (!chunks) throw new WireFault("model_stream_broken", "it ended too early");
    return partsOf(chunks);
  };
}

function partsOf(chunks: Chunks) {
  const source = new EventSource();
  const events = new AnthropicEvents();
  return {
    async next() {
      const bytes = await chunks.next();
      return bytes && source.push(bytes).flatMap((data) => events.take(data));
    },
    cancel: () => chunks.cancel(),
  };
}

/** Error with the same fields as errors of the SDK. */
function refusedBy({ status, statusText, headers }: Response, responseBody: string) {
  return {
    message: statusText,
    statusCode: status || 502,
    responseHeaders: Object.fromEntries(headers),
    responseBody,
  };
}

/** `fetch` reports only that it failed; the reason is in the cause. */
function nameTheCause(error: unknown): never {
  const cause = error instanceof TypeError ? (error.cause as Error | undefined) : undefined;
  throw cause?.message ? new Error(`Cannot connect: ${cause.message}`, { cause: error }) : error;
}
