/**
 * A provider behind an address. Anthropic is spoken to by our own code, the others by packages of
 * the SDK. A package is loaded when it is first needed, and gets its address and key as arguments:
 * it must never look for them in the environment by itself.
 */
import type { Clock } from "#base/clock.ts";
import type { ModelEvent, ModelFailure, ModelProvider, ModelRequest } from "../model.ts";
import { openMessages } from "./anthropic/messages-api.ts";
import type { ProviderKind } from "./kinds.ts";
import { type OpenParts, openThroughSdk } from "./part-source.ts";
import { streamFromSdk } from "./stream-from-sdk.ts";
import type { Fetch } from "./wire-guard.ts";

export interface SdkProviderOptions {
  name: string;
  title: string;
  kind: ProviderKind;
  /** Address that ends with the version, such as `/v1`. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** Token for `anthropic`, sent as a bearer token instead of a key. */
  authToken?: string | undefined;
  /** Uses the server's model gateway, with the token of the run instead of a key. */
  viaServer?: boolean | undefined;
  fetch?: Fetch | undefined;
  idleTimeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

/** Placeholder for endpoints without a key; packages insist on one, and so may endpoints. */
const NO_KEY = "none";

export function createSdkProvider(options: SdkProviderOptions): ModelProvider {
  const { name, title, kind, viaServer, idleTimeoutMs, clock } = options;
  const { fetch: given = globalThis.fetch } = options;
  const secrets = [options.apiKey, options.authToken].filter((secret) => secret !== undefined);
  let opening: Promise<OpenParts> | undefined;
  let wantsSummaries = true;

  async function* ask(request: ModelRequest, sendsReasoning: boolean): AsyncGenerator<ModelEvent> {
    opening ??= openKind(options);
    const open = await opening.catch(() => null);
    if (!open) {
      opening = undefined;
      yield { type: "failed", failure: notInstalled(title) };
      return;
    }
    const fetch = viaServer ? withRunToken(given, request.runToken ?? "") : given;
    const target = { provider: name, model: request.model, kind, wantsSummaries, sendsReasoning };
    yield* streamFromSdk(open, request, {
      target,
      title,
      fetch,
      secrets,
      viaServer,
      idleTimeoutMs,
      clock,
    });
  }

  /** Reduced request, when the provider refused a part of it that can be left out. */
  function withLess(event: ModelEvent, request: ModelRequest): AsyncIterable<ModelEvent> | null {
    if (wantsSummaries && refuses(event, SUMMARIES)) {
      wantsSummaries = false;
      return ask(request, true);
    }
    return refuses(event, REASONING) && hasReasoning(request) ? ask(request, false) : null;
  }

  return {
    name,
    async *stream(request) {
      for await (const event of ask(request, true)) {
        const again = withLess(event, request);
        if (again) {
          yield* again;
          return;
        }
        yield event;
      }
    },
  };
}

/** Replaces the key or its placeholder by the run token, in whichever header it is. */
function withRunToken(fetch: Fetch, token: string): Fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("x-api-key");
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}

/** OpenAI gives summaries only to organisations it has verified. */
const SUMMARIES = /reasoning[ ._]summar/i;
/** Reasoning is bound to the messages before it, which have changed once they were summed up. */
const REASONING = /thinking|signature|encrypted[ _]content|\breasoning\b/i;

/** Such a refusal is the only event of a request, so nothing has to be retracted. */
function refuses(event: ModelEvent, what: RegExp): boolean {
  if (event.type !== "failed") return false;
  return event.failure.code === "model_request_invalid" && what.test(event.failure.message);
}

function hasReasoning({ messages }: ModelRequest): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "assistant" && content.some((part) => "type" in part && part.type === "reasoning"),
  );
}

function notInstalled(title: string): ModelFailure {
  return {
    code: "model_unavailable",
    message: `The package that speaks to ${title} could not be loaded. Install Muster again, or choose another model.`,
    retryable: false,
  };
}

async function openKind({
  kind,
  name,
  baseUrl,
  apiKey,
  authToken,
}: SdkProviderOptions): Promise<OpenParts> {
  if (kind === "anthropic") {
    const credentials =
      authToken && !apiKey
        ? { authorization: `Bearer ${authToken}` }
        : { "x-api-key": apiKey ?? NO_KEY };
    return openMessages({ baseUrl, credentials });
  }
  const baseURL = baseUrl;
  if (kind === "openai-compatible") {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const auth = apiKey ? { apiKey } : {};
    return openThroughSdk((model, fetch) =>
      createOpenAICompatible({ name, baseURL, ...auth, fetch, includeUsage: true })(model),
    );
  }
  const { createOpenAI } = await import("@ai-sdk/openai");
  return openThroughSdk((model, fetch) => {
    const openai = createOpenAI({ baseURL, apiKey: apiKey ?? NO_KEY, fetch });
    return kind === "openai-chat" ? openai.chat(model) : openai.responses(model);
  });
}
