/**
 * Wire formats of model providers. A gateway passes each on byte for byte; a meter reads of it only
 * what was used. A new format is one more `AnswerReader`.
 */

/** The route below a provider's address; each has a format of its own. */
export type ModelRoute = "messages" | "chat/completions" | "responses";

/** Tokens of one request. */
export interface TokenUsage {
  /** Everything that was read, from the cache or not. */
  inputTokens: number;
  cachedInputTokens: number;
  /** Part of the input: what was written to the provider's cache. */
  cacheWriteTokens: number;
  /** Part of what was written there: what stays for an hour, which costs more. */
  cacheHourTokens?: number;
  outputTokens: number;
  /** Part of the output. */
  reasoningTokens: number;
}

/** Reads the events, or the one whole body, of an answer. */
export interface AnswerReader {
  take(event: Fields): void;
  /** What the provider has counted so far; null when it has said nothing. */
  readonly usage: TokenUsage | null;
  /** The usage is final: nothing the provider counts can follow. */
  readonly isWhole: boolean;
  /** Characters that the model has written, for answers that end without a count. */
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

/** More than any request can hold; what a provider says is not trusted to be less. */
const MAX_TOKENS = 1_000_000_000;

/** A provider's count as a whole number within bounds; 0 when it is none. */
export function countOf(value: unknown): number {
  if (typeof value !== "number" || !(value > 0)) return 0;
  return Math.min(Math.round(value), MAX_TOKENS);
}

export function charsOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
