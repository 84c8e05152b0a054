/**
 * A model as the native loop sees it: one request, one stream of what the model says, one end.
 *
 * Rules for an implementation:
 * - `stream` must not throw and must end with exactly one `end` or `failed` event, after which
 *   nothing follows. Whatever the provider does (hangs, cuts the stream, sends nonsense) is one of
 *   these two.
 * - It must stop soon after `request.signal` aborts; what it then says is not listened to.
 * - A tool call's input is what the model wrote, unparsed: the loop parses it.
 * - Text is bounded: a response of more than `MAX_RESPONSE_CHARS` is `failed` with
 *   `model_response_too_large`.
 */
import type { ToolOffer } from "#protocol/tools.ts";

/** More than any model writes at once, and little enough that it fits one item of the journal. */
export const MAX_RESPONSE_CHARS = 1_000_000;

/**
 * Metadata that a provider needs again with the next request, such as the signature of its
 * reasoning.
 */
export type ProviderMeta = Record<string, unknown>;

export type UserPart =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string };

export type AssistantPart =
  | { type: "text"; text: string; meta?: ProviderMeta }
  | { type: "reasoning"; text: string; meta?: ProviderMeta }
  | { type: "tool_call"; callId: string; tool: string; input: unknown; meta?: ProviderMeta };

export interface ToolResultPart {
  callId: string;
  tool: string;
  /** Text that the model is shown. */
  content: UserPart[];
  isError: boolean;
}

export type ModelMessage =
  | { role: "user"; content: UserPart[] }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; content: ToolResultPart[] };

export interface ModelRequest {
  /** The part of the id after `provider/`. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolOffer[];
  /** The same for all requests of a session: what was sent before may be cached under it. */
  cacheKey: string;
  /** Opens models that are reached through the server, while the turn lasts. */
  runToken?: string;
  maxOutputTokens?: number;
  signal: AbortSignal;
}

export interface ModelUsage {
  /** All that was read, cached or not. */
  inputTokens: number;
  cachedInputTokens: number;
  /** Part of the input tokens: what was put into the provider's cache, where that has a price. */
  cacheWriteTokens?: number;
  /** Part of those: what stays there for an hour. */
  cacheHourTokens?: number;
  outputTokens: number;
  /** Part of the output tokens. */
  reasoningTokens: number;
}

export type StopReason = "end" | "tool_calls" | "length" | "refusal" | "other";

/** A tool call as the model wrote it. */
export interface RawToolCall {
  type: "tool_call";
  callId: string;
  tool: string;
  /** JSON, if the model did as it was told. */
  inputText: string;
  meta?: ProviderMeta;
}

export interface ModelResponse {
  parts: (Extract<AssistantPart, { type: "text" | "reasoning" }> | RawToolCall)[];
  stopReason: StopReason;
  /** Null when the provider did not say. */
  usage: ModelUsage | null;
}

/** The server lets no more requests of this turn through, because it is being stopped or is not held here. */
export const TURN_OVER = "turn_over";

export interface ModelFailure {
  code: string;
  /** Says what to do next; holds nothing secret. */
  message: string;
  /** True when the same request may well succeed later. */
  retryable: boolean;
  /** Delay that the provider asked for. */
  retryAfterMs?: number;
  /** The server between runner and provider cannot be reached; the provider itself was not asked. */
  isServerAway?: boolean;
}

/**
 * `part` numbers the parts of the response from 0, in the order of their first piece. After
 * `restart` everything seen so far is to be forgotten: the request is made again after a pause, and
 * parts begin at 0.
 */
export type ModelEvent =
  | { type: "text"; part: number; text: string }
  | { type: "reasoning"; part: number; text: string }
  | { type: "tool_input"; part: number; tool: string; text: string }
  | { type: "restart"; attempt: number; delayMs: number; failure: ModelFailure }
  | { type: "end"; response: ModelResponse }
  | { type: "failed"; failure: ModelFailure };

export interface ModelProvider {
  /** The part of a model's id before the slash. */
  readonly name: string;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** Price of a model, in micro-dollars per million tokens. */
export interface ModelRates {
  inputMicros: number;
  cachedInputMicros: number;
  /** Price of input written to the cache; that of other input when absent. */
  cacheWriteMicros?: number;
  outputMicros: number;
}

export interface ModelPrice extends ModelRates {
  /** Names the price and the day it was taken from, such as `anthropic/claude-sonnet-5@2026-10-01`. */
  id: string;
  /** For a whole request that reads more than so many tokens. */
  long?: ModelRates & { aboveInputTokens: number };
}

/** A model a person can choose, or a provider that cannot be used yet and why. */
export interface ModelOffer {
  /** `provider/model`. */
  id: string;
  provider: string;
  usable: boolean;
  /** Advice on making the model usable; null if it is. */
  why: string | null;
  price: ModelPrice | null;
}
