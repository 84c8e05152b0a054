import { describe, expect, it } from "vitest";
import type { ModelRoute } from "./format.ts";
import { UsageMeter } from "./usage-meter.ts";

const sse = (...events: object[]) =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");

function meter(route: ModelRoute, text: string, { isEventStream = true, isCut = false } = {}) {
  const results = [1, 7, text.length].map((size) => {
    const one = new UsageMeter({ route, isEventStream, requestBytes: 400 });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) one.take(bytes.subarray(at, at + size));
    return one.end(isCut);
  });
  // The count does not depend on how the bytes are split.
  expect(results[0]).toEqual(results[2]);
  expect(results[1]).toEqual(results[2]);
  return results[2];
}

const start = {
  type: "message_start",
  message: {
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 30,
      output_tokens: 1,
    },
  },
};
const said = { type: "content_block_delta", delta: { type: "text_delta", text: "å".repeat(40) } };

describe("a meter", () => {
  it("reads Anthropic's counts from the beginning and the last delta", () => {
    const end = {
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { input_tokens: null, output_tokens: 77 },
    };
    expect(meter("messages", sse(start, said, end, { type: "message_stop" }))).toEqual({
      usage: {
        inputTokens: 60,
        cachedInputTokens: 30,
        cacheWriteTokens: 20,
        outputTokens: 77,
        reasoningTokens: 0,
      },
      isEstimated: false,
      stopReason: "tool_calls",
    });
  });

  it("tells apart what Anthropic keeps in its cache for an hour", () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      output_tokens: 1,
    };
    const counted = meter("messages", sse({ type: "message_start", message: { usage } }))?.usage;
    expect(counted).toMatchObject({ cacheWriteTokens: 20, cacheHourTokens: 15 });
  });

  it("reads the last event of Responses, and the last chunk of chat completions", () => {
    const response = {
      status: "completed",
      output: [],
      usage: {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
      },
    };
    const counted = { inputTokens: 9, cachedInputTokens: 4, outputTokens: 5, reasoningTokens: 2 };
    for (const type of ["response.completed", "response.incomplete", "response.failed"])
      expect(meter("responses", sse({ type, response }))?.usage).toMatchObject(counted);
    const chat = sse(
      { choices: [{ delta: { content: "hi" } }] },
      { choices: [{ delta: {}, finish_reason: "stop" }] },
      {
        choices: [],
        usage: {
          prompt_tokens: 9,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens: 5,
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    );
    expect(meter("chat/completions", `${chat}data: [DONE]\n\n`)).toMatchObject({
      usage: counted,
      isEstimated: false,
      stopReason: "end",
    });
  });

  it("reads whole answers", () => {
    const whole = { isEventStream: false };
    const message = {
      type: "message",
      stop_reason: "end_turn",
      content: [{ type: "text", text: "hi" }],
      usage: { input_tokens: 3, output_tokens: 4 },
    };
    expect(meter("messages", JSON.stringify(message, null, 2), whole)).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 4 },
      isEstimated: false,
    });
    const response = {
      object: "response",
      status: "completed",
      output: [{ type: "function_call" }],
      usage: { input_tokens: 3, output_tokens: 4 },
    };
    expect(meter("responses", JSON.stringify(response), whole)).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 4 },
      isEstimated: false,
      stopReason: "tool_calls",
    });
  });

  it("estimates what was cut off, and says so", () => {
    expect(meter("messages", sse(start, said), { isCut: true })).toMatchObject({
      usage: { inputTokens: 60, outputTokens: 10 },
      isEstimated: true,
      stopReason: "aborted",
    });
    const piece = { choices: [{ delta: { content: "x".repeat(80) } }] };
    expect(meter("chat/completions", sse(piece), { isCut: true })).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 20 },
      isEstimated: true,
    });
    // The stream ended in order, but the provider sent no usage.
    expect(meter("chat/completions", sse(piece))).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 20 },
      isEstimated: true,
    });
  });

  it("bounds what a provider says, and survives what makes no sense", () => {
    const bad = {
      type: "message_start",
      message: { usage: { input_tokens: -5, output_tokens: 1e300 } },
    };
    expect(meter("messages", sse(bad, { type: "message_stop" }))?.usage).toMatchObject({
      inputTokens: 0,
      outputTokens: 1_000_000_000,
    });
    for (const text of ["data: {", "data: null\n", "data: [1]\n\n", "\n\n\n", "x".repeat(1000)])
      expect(meter("responses", text)).toMatchObject({ isEstimated: true });
  });

  it("holds no line longer than it reads", () => {
    const one = new UsageMeter({ route: "responses", isEventStream: true, requestBytes: 4 });
    const piece = Buffer.alloc(1024 * 1024, "x");
    one.take(Buffer.from("data: "));
    for (let count = 0; count < 40; count++) one.take(piece);
    one.take(
      Buffer.from(
        `\n${sse({ type: "response.completed", response: { usage: { input_tokens: 8, output_tokens: 1 } } })}`,
      ),
    );
    expect(one.end(false)).toMatchObject({ usage: { inputTokens: 8 }, isEstimated: false });
  });
});
