/** Source of the parts of an answer, and the one that a package of the SDK makes. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelRequest } from "../model.ts";
import type { Target } from "./history.ts";
import { toSdk } from "./to-sdk.ts";
import type { Fetch, WireGuard } from "./wire-guard.ts";

export interface PartSource {
  /** Parts that have arrived since the last call; null at the end. */
  next(): Promise<LanguageModelV4StreamPart[] | null>;
  cancel(): Promise<void>;
}

/** Sends a request over the wire, and returns when its answer begins. */
export type OpenParts = (
  request: ModelRequest,
  target: Target,
  wire: WireGuard,
) => Promise<PartSource>;

/**
 * Only `doStream` of the model is used: it never retries by itself and buffers nothing, so a
 * provider's behaviour is seen as it happens.
 */
export function openThroughSdk(
  makeModel: (model: string, fetch: Fetch) => LanguageModelV4,
): OpenParts {
  return async (request, target, wire) => {
    const call = { ...toSdk(request, target), abortSignal: wire.signal };
    const { stream } = await makeModel(target.model, wire.fetch).doStream(call);
    const reader = stream.getReader();
    return {
      async next() {
        const { done, value } = await reader.read();
        if (value?.type === "error") throw value.error;
        return done ? null : [value];
      },
      cancel: () => reader.cancel(),
    };
  };
}
