import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../model.ts";
import { ResponseBuilder } from "./response-builder.ts";
import { toSdk } from "./to-sdk.ts";

const AUTHOR = { provider: "test", model: "m-1" };
const NO_USAGE = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function build(
  parts: LanguageModelV4StreamPart[],
  unified: LanguageModelV4FinishReason["unified"] = "stop",
) {
  const builder = new ResponseBuilder(AUTHOR);
  const events = parts
    .map((part) => builder.take(part))
    .filter((event): event is ModelEvent => event !== null);
  const finishReason = { unified, raw: unified };
  return { events, response: builder.finish({ type: "finish", finishReason, usage: NO_USAGE }) };
}

describe("ResponseBuilder", () => {
  it("keeps hidden reasoning in its place, and a signature that comes after the text", () => {
    const { response, events } = build([
      {
        type: "reasoning-start",
        id: "0",
        providerMetadata: { anthropic: { redactedData: "sealed" } },
      },
      { type: "reasoning-end", id: "0" },
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "hm" },
      {
        type: "reasoning-delta",
        id: "1",
        delta: "",
        providerMetadata: { anthropic: { signature: "sig" } },
      },
      { type: "reasoning-end", id: "1" },
      { type: "text-start", id: "2" },
      { type: "text-end", id: "2" },
      { type: "text-start", id: "3" },
      { type: "text-delta", id: "3", delta: "yes" },
      { type: "text-end", id: "3" },
    ]);
    expect(events).toEqual([
      { type: "reasoning", part: 1, text: "hm" },
      { type: "text", part: 2, text: "yes" },
    ]);
    expect(response.parts).toMatchObject([
      { type: "reasoning", text: "", meta: { anthropic: { redactedData: "sealed" } } },
      { type: "reasoning", text: "hm", meta: { anthropic: { signature: "sig" } } },
      { type: "text", text: "yes" },
    ]);
    expect(response.usage).toBeNull();
  });

  it("gives its meta back to the same model in the words of the SDK", () => {
    const { response } = build([
      {
        type: "reasoning-start",
        id: "0",
        providerMetadata: { anthropic: { redactedData: "sealed" } },
      },
      { type: "reasoning-end", id: "0" },
    ]);
    const content = response.parts.filter((part) => part.type !== "tool_call");
    const request = {
      model: "m-1",
      system: "",
      messages: [{ role: "assistant" as const, content }],
      tools: [],
      cacheKey: "",
      signal: new AbortController().signal,
    };
    const target = {
      ...AUTHOR,
      kind: "anthropic" as const,
      wantsSummaries: true,
      sendsReasoning: true,
    };
    expect(toSdk(request, target).prompt).toEqual([
      {
        role: "assistant",
        content: [
          {
            type: "reasoning",
            text: "",
            providerOptions: { anthropic: { redactedData: "sealed" } },
          },
        ],
      },
    ]);
    expect(toSdk(request, { ...target, model: "m-2" }).prompt).toEqual([]);
  });

  it("keeps calls apart whose pieces come mixed, and takes one that comes whole", () => {
    const { response, events } = build([
      { type: "tool-input-start", id: "a", toolName: "one" },
      { type: "tool-input-start", id: "b", toolName: "two" },
      { type: "tool-input-delta", id: "a", delta: '{"x"' },
      { type: "tool-input-delta", id: "b", delta: "{}" },
      { type: "tool-input-delta", id: "a", delta: ":1}" },
      { type: "tool-call", toolCallId: "b", toolName: "two", input: "{}" },
      { type: "tool-call", toolCallId: "a", toolName: "one", input: '{"x":1}' },
      { type: "tool-call", toolCallId: "c", toolName: "three", input: "not json" },
    ]);
    expect(response.parts).toMatchObject([
      { callId: "a", tool: "one", inputText: '{"x":1}' },
      { callId: "b", tool: "two", inputText: "{}" },
      { callId: "c", tool: "three", inputText: "not json" },
    ]);
    expect(response.stopReason).toBe("tool_calls");
    expect(events.at(-1)).toEqual({ type: "tool_input", part: 2, tool: "three", text: "not json" });
  });

  it("counts what was used in whole numbers, whatever the provider says", () => {
    const builder = new ResponseBuilder(AUTHOR);
    const { usage } = builder.finish({
      type: "finish",
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 12.6, noCache: 0, cacheRead: -5, cacheWrite: Number.NaN },
        outputTokens: { total: Number.POSITIVE_INFINITY, text: 0, reasoning: undefined },
      },
    });
    expect(usage).toEqual({
      inputTokens: 13,
      cachedInputTokens: 0,
      outputTokens: 1e12,
      reasoningTokens: 0,
    });
  });

  it.each([
    ["stop", "end"],
    ["tool-calls", "end"],
    ["length", "length"],
    ["content-filter", "refusal"],
    ["other", "other"],
  ] as const)("%s without calls is %s", (unified, stopReason) => {
    expect(build([], unified).response.stopReason).toBe(stopReason);
  });
});
