/** Streams one request to a provider and its answer, as our events. */
import { type Clock, systemClock } from "#base/clock.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { aborted, type FailureContext, failureOf, WireFault } from "./failures.ts";
import type { Target } from "./history.ts";
import type { OpenParts, PartSource } from "./part-source.ts";
import { ResponseBuilder } from "./response-builder.ts";
import { type Fetch, WireGuard } from "./wire-guard.ts";

export const IDLE_TIMEOUT_MS = 120_000;

export interface SdkStreamOptions {
  target: Target;
  /** Name of the provider for people. */
  title: string;
  fetch: Fetch;
  /** Values that are never shown, whatever the provider sends. */
  secrets: readonly string[];
  /** See `FailureContext`. */
  viaServer?: boolean | undefined;
  idleTimeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

export async function* streamFromSdk(
  openParts: OpenParts,
  request: ModelRequest,
  options: SdkStreamOptions,
): AsyncGenerator<ModelEvent> {
  const { target, clock = systemClock } = options;
  const wire = new WireGuard({
    fetch: options.fetch,
    idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    signal: request.signal,
  });
  let source: PartSource | undefined;
  let isWhole = false;
  try {
    source = await wire.wait(openParts(request, target, wire));
    for await (const event of readAll(source, wire, new ResponseBuilder(target))) {
      isWhole = event.type === "end";
      yield event;
    }
  } catch (error) {
    yield {
      type: "failed",
      failure: request.signal.aborted ? aborted() : failureOf(wire.fault ?? error, context()),
    };
  } finally {
    if (isWhole && source) void readOut(source, wire);
    else {
      wire.close();
      source?.cancel().catch(() => undefined);
    }
  }

  function context(): FailureContext {
    const { title: provider, secrets, viaServer = false } = options;
    const { hasBegun } = wire;
    const { model } = target;
    return { provider, model, secrets, nowMs: clock.now(), hasBegun, viaServer };
  }
}

type Finish = Parameters<ResponseBuilder["finish"]>[0];

async function* readAll(
  source: PartSource,
  wire: WireGuard,
  builder: ResponseBuilder,
): AsyncGenerator<ModelEvent> {
  for (;;) {
    const parts = await wire.wait(source.next());
    if (!parts) throw new WireFault("model_stream_broken", "it ended too early");
    for (const part of parts) {
      const event = part.type === "finish" ? endOf(part, builder) : builder.take(part);
      if (event) yield event;
      if (event?.type === "end") return;
    }
  }
}

function endOf(part: Finish, builder: ResponseBuilder): ModelEvent {
  // The SDK ends a stream in its own way when the provider never did.
  if (["interrupted", "error"].includes(part.finishReason.unified)) {
    throw new WireFault("model_stream_broken", "it ended too early");
  }
  return { type: "end", response: builder.finish(part) };
}

const READ_OUT_MS = 1_000;

/**
 * Reads an answer to its end, which comes on the wire a moment after its last event. A connection
 * that is left before that is lost, and the next request has to open a new one.
 */
async function readOut(source: PartSource, wire: WireGuard): Promise<void> {
  const timer = setTimeout(() => wire.close(), READ_OUT_MS).unref();
  try {
    while (await source.next());
  } catch {
    // The answer is complete; later data does not matter.
  }
  clearTimeout(timer);
  wire.close();
  source.cancel().catch(() => undefined);
}
