/** Kinds of provider APIs, and the differences between them in a request. */

import { createHash } from "node:crypto";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";

export const PROVIDER_KINDS = ["anthropic", "openai", "openai-chat", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** Enough for a large file in one answer; without it, models the SDK does not know stop at 4096. */
const ANTHROPIC_OUTPUT_TOKENS = 32_000;
const SMALL_ANTHROPIC_MODELS: [pattern: RegExp, outputTokens: number][] = [
  [/claude-3-5/, 8192],
  [/claude-(3-(?!7)|2|instant)/, 4096],
];
/** Models that think by themselves, and show it only when asked to. */
const ADAPTIVE_THINKING = /claude-(?:(?:opus|sonnet|haiku|fable)-5|opus-4-[6-8]|sonnet-4-6)/;
const OPENAI_REASONING = /^(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*-chat)/;
const MAX_CACHE_KEY_CHARS = 64;

export const CACHE_BREAKPOINT: SharedV4ProviderOptions = {
  anthropic: { cacheControl: { type: "ephemeral" } },
};

export function outputTokens(
  kind: ProviderKind,
  model: string,
  asked?: number,
): number | undefined {
  if (kind !== "anthropic") return asked;
  const limit = SMALL_ANTHROPIC_MODELS.find(([pattern]) => pattern.test(model))?.[1];
  return Math.min(asked ?? ANTHROPIC_OUTPUT_TOKENS, limit ?? Number.POSITIVE_INFINITY);
}

export interface OptionsWish {
  model: string;
  cacheKey: string;
  /** False for organisations that may not ask for summaries of reasoning. */
  wantsSummaries: boolean;
}

export function providerOptions(kind: ProviderKind, request: OptionsWish): SharedV4ProviderOptions {
  if (kind === "anthropic") {
    if (!ADAPTIVE_THINKING.test(request.model)) return {};
    return { anthropic: { thinking: { type: "adaptive", display: "summarized" } } };
  }
  if (kind === "openai-compatible") return {};
  // The conversation is kept in our own log only; reasoning comes back encrypted instead.
  const openai = { store: false, promptCacheKey: cacheKeyOf(request.cacheKey) };
  if (kind === "openai-chat") return { openai };
  const reasons = request.wantsSummaries && OPENAI_REASONING.test(request.model);
  return { openai: reasons ? { ...openai, reasoningSummary: "auto" } : openai };
}

function cacheKeyOf(key: string): string {
  if (key.length <= MAX_CACHE_KEY_CHARS) return key;
  return createHash("sha256").update(key).digest("hex").slice(0, MAX_CACHE_KEY_CHARS);
}
