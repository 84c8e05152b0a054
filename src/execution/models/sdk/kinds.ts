/** Kinds of provider APIs, and the options that the SDK's packages get for them. */

import { createHash } from "node:crypto";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";

export const PROVIDER_KINDS = ["anthropic", "openai", "openai-chat", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

const OPENAI_REASONING = /^(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*-chat)/;
const MAX_CACHE_KEY_CHARS = 64;

export interface ProviderOptionsRequest {
  model: string;
  cacheKey: string;
  /** False for organisations that may not ask for summaries of reasoning. */
  wantsSummaries: boolean;
}

export function providerOptions(
  kind: ProviderKind,
  request: ProviderOptionsRequest,
): SharedV4ProviderOptions {
  if (kind === "anthropic" || kind === "openai-compatible") return {};
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
