/**
 * A model as the native loop sees it: one request, one stream of its answer, one end.
 *
 * Rules for an implementation:
 * - `stream` must not throw and must end with exactly one `end` or `failed` event, after which
 *   nothing follows. Whatever the provider does (hangs, cuts the stream, sends nonsense) becomes one
 *   of these two.
 * - The stream must stop soon after `request.signal` aborts; later events are ignored.
 * - A tool call's input is the model's text, unparsed: the loop parses it.
 * - Text is bounded: a response of more than `MAX_RESPONSE_CHARS` is `failed` with
 *   `model_response_too_large`.
 */
import type { ToolDefinition } from "#protocol/tools.ts";

/** More than any model writes at once, and little enough to fit one item of the journal. */
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
  /** Text for the model. */
  content: UserPart[];
  isError: boolean;
}

export type ModelMessage =
  | { role: "user"; content: UserPart[] }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; content: ToolResultPart[] };

export interface ModelRequest {
  /** Part of the id after `provider/`. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  /** Key shared by all requests of a session, under which earlier messages may be cached. */
  cacheKey: string;
  /** Token for models that are reached through the server, while the turn lasts. */
  runToken?: string;
  maxOutputTokens?: number;
  signal: AbortSignal;
}

export interface ModelUsage {
  /** All input, cached or not. */
  inputTokens: number;
  cachedInputTokens: number;
  /** Input tokens that were written to the provider's cache, where that has a price. */
  cacheWriteTokens?: number;
  /** Part of those tokens that stays for an hour. */
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
  /** Input as text; JSON, if the model followed its instructions. */
  inputText: string;
  meta?: ProviderMeta;
}

export interface ModelResponse {
  parts: (Extract<AssistantPart, { type: "text" | "reasoning" }> | RawToolCall)[];
  stopReason: StopReason;
  /** Null when the provider reported none. */
  usage: ModelUsage | null;
}

/**
 * The server accepts no more requests of this turn, because it is being stopped or is not held
 * here.
 */
export const TURN_OVER = "turn_over";

export interface ModelFailure {
  code: string;
  /** Next step for the reader; holds nothing secret. */
  message: string;
  /** True when the same request may well succeed later. */
  retryable: boolean;
  /** Delay that the provider asked for. */
  retryAfterMs?: number;
  /** True when the server between runner and provider cannot be reached; the provider was not asked. */
  isServerAway?: boolean;
}

/**
 * `part` numbers the parts of the response from 0, in the order of their first piece. After
 * `restart` the reader forgets everything so far: the request is made again after a pause, and
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
  /** Part of a model's id before the slash. */
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
  /**
   * Name of the price and the day it was taken from, such as
   * `anthropic/claude-sonnet-5@2026-10-01`.
   */
  id: string;
  /** Rates of a whole request that reads more than so many tokens. */
  long?: ModelRates & { aboveInputTokens: number };
}

/** A model a person can choose, or a provider that cannot be used yet, with the reason. */
export interface ModelCapability {
  /** `provider/model`. */
  id: string;
  provider: string;
  usable: boolean;
  /** Advice on making the model usable; null if it is. */
  why: string | null;
  price: ModelPrice | null;
}
