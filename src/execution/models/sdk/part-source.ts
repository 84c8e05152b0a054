/**
 * Source of the parts of an answer. The SDK writes every request. It also reads the answers,
 * through half a dozen web streams and a schema for each event; answers in a format that is common
 * and simple are read here instead, in less than half of the time.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { AnthropicEvents } from "./anthropic/events.ts";
import { EventSource } from "./event-source.ts";
import { WireFault } from "./failures.ts";
import type { ProviderKind } from "./kinds.ts";
import type { Chunks, Fetch, WireGuard } from "./wire-guard.ts";

export type MakeLanguageModel = (fetch: Fetch) => LanguageModelV4;

export type Call = Parameters<LanguageModelV4["doStream"]>[0];

export interface PartSource {
  /** Parts that have arrived since the last call; null at the end. */
  next(): Promise<LanguageModelV4StreamPart[] | null>;
  cancel(): Promise<void>;
}

export async function openParts(
  kind: ProviderKind,
  makeModel: MakeLanguageModel,
  call: Call,
  wire: WireGuard,
): Promise<PartSource> {
  if (kind !== "anthropic") return throughSdk(makeModel, call, wire);
  const { input, init } = await requestOf(makeModel, call);
  const { response, refusal, chunks } = await wire.open(input, init).catch(nameTheCause);
  if (refusal !== null) throw refusedBy(response, refusal);
  if (!chunks) throw new WireFault("model_stream_broken", "it ended too early");
  return readHere(chunks);
}

async function throughSdk(
  makeModel: MakeLanguageModel,
  call: Call,
  wire: WireGuard,
): Promise<PartSource> {
  const { stream } = await makeModel(wire.fetch).doStream(call);
  const reader = stream.getReader();
  return {
    async next() {
      const { done, value } = await reader.read();
      if (value?.type === "error") throw value.error;
      return done ? null : [value];
    },
    cancel: () => reader.cancel(),
  };
}

function readHere(chunks: Chunks): PartSource {
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

interface WrittenRequest {
  input: Parameters<Fetch>[0];
  init: Parameters<Fetch>[1];
}

/** Request as the SDK would send it. For the SDK, its answer never comes. */
async function requestOf(makeModel: MakeLanguageModel, call: Call): Promise<WrittenRequest> {
  const { promise: written, resolve } = Promise.withResolvers<WrittenRequest>();
  const answered = makeModel((input, init) => {
    resolve({ input, init });
    return new Promise<Response>(() => {});
  }).doStream(call);
  const tooSoon = answered.then((): never => {
    throw new Error("the SDK has made no request");
  });
  return Promise.race([written, tooSoon]);
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
