import { describe, expect, it } from "vitest";
import type { ModelUsage } from "./model.ts";
import { costMicros, priceOf } from "./prices.ts";

const usage = (more: Partial<ModelUsage>): ModelUsage => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  ...more,
});

describe("priceOf", () => {
  it("names the model and the day of the price", () => {
    expect(priceOf("anthropic/claude-opus-4-5")?.id).toMatch(
      /^anthropic\/claude-opus-4-5@\d{4}-\d\d-\d\d$/,
    );
  });

  it("knows a dated id by its model", () => {
    expect(priceOf("anthropic/claude-haiku-4-5-20251001")).toEqual(
      priceOf("anthropic/claude-haiku-4-5"),
    );
    expect(priceOf("openai/gpt-5-2025-08-07")).toEqual(priceOf("openai/gpt-5"));
    expect(priceOf("openai-chat/gpt-5")?.inputMicros).toBe(1_250_000);
  });

  it.each([
    "anthropic/claude-next",
    "openai/constructor",
    "openrouter/openai/gpt-5",
    "mine/gpt-5",
    "gpt-5",
    "",
  ])("%j is unpriced, not free", (id) => {
    expect(priceOf(id)).toBeNull();
    expect(costMicros(priceOf(id), usage({ inputTokens: 5 }))).toBeNull();
  });

  it("local models and the demo cost nothing, and say why", () => {
    expect(priceOf("ollama/qwen3:8b")).toMatchObject({
      id: "ollama/qwen3:8b@local",
      outputMicros: 0,
    });
    expect(costMicros(priceOf("demo/story"), usage({ inputTokens: 5, outputTokens: 5 }))).toBe(0);
  });
});

describe("costMicros", () => {
  it("adds up what was read, cached, written to the cache and answered", () => {
    const price = priceOf("anthropic/claude-opus-4-5");
    const used = {
      inputTokens: 10_000,
      cachedInputTokens: 6000,
      cacheWriteTokens: 3000,
      outputTokens: 200,
    };
    // 1000 × $5 + 6000 × $0.5 + 3000 × $6.25 + 200 × $25, each for a million
    expect(costMicros(price, usage(used))).toBe(5000 + 3000 + 18_750 + 5000);
    // 2000 of the written tokens stay for an hour, at $10.
    expect(costMicros(price, usage({ ...used, cacheHourTokens: 2000 }))).toBe(
      5000 + 3000 + 6250 + 20_000 + 5000,
    );
  });

  it("is a whole number, and never negative for figures that contradict each other", () => {
    const price = priceOf("openai/gpt-5-nano");
    expect(costMicros(price, usage({ inputTokens: 3 }))).toBe(0);
    expect(costMicros(price, usage({ inputTokens: 30 }))).toBe(2);
    expect(
      costMicros(price, usage({ inputTokens: 10, cachedInputTokens: 99, cacheWriteTokens: 9 })),
    ).toBe(0);
  });

  it("takes the higher rates for a whole long request", () => {
    const price = priceOf("openai/gpt-6.1-sol");
    expect(costMicros(price, usage({ inputTokens: 272_000, outputTokens: 1000 }))).toBe(
      544_000 + 10_000,
    );
    expect(costMicros(price, usage({ inputTokens: 272_001, outputTokens: 1000 }))).toBe(
      1_088_004 + 15_000,
    );
  });

  it("is unknown when the usage is", () => {
    expect(costMicros(priceOf("demo/story"), null)).toBeNull();
  });
});
