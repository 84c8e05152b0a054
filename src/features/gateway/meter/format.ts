/**
 * Wire formats of model providers. The gateway passes each on byte for byte; a meter reads only the usage. A
 * new format is one more `AnswerReader`.
 */

/** The route below a provider's address; each has a format of its own. */
export type ModelRoute = "messages" | "chat/completions" | "responses";

/** Tokens of one request. */
export interface TokenUsage {
  /** All input tokens, cached or not. */
  inputTokens: number;
  cachedInputTokens: number;
  /** Part of the input that was written to the provider's cache. */
  cacheWriteTokens: number;
  /** Part of the cache writes that stays for an hour, which costs more. */
  cacheHourTokens?: number;
  outputTokens: number;
  /** Part of the output. */
  reasoningTokens: number;
}

/** Reads the events, or the single body, of a response. */
export interface AnswerReader {
  take(event: Fields): void;
  /** Counts of the provider so far; null when it has sent none. */
  readonly usage: TokenUsage | null;
  /** True when the usage is final: no further count can follow. */
  readonly isWhole: boolean;
  /** Characters that the model has written, for responses that end without a count. */
  readonly writtenChars: number;
  readonly stopReason: string;
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** More than any request can hold; a provider's count is not trusted to be less. */
const MAX_TOKENS = 1_000_000_000;

/** Converts a provider's count to a whole number within bounds; 0 when it is none. */
export function countOf(value: unknown): number {
  if (typeof value !== "number" || !(value > 0)) return 0;
  return Math.min(Math.round(value), MAX_TOKENS);
}

export function charsOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
