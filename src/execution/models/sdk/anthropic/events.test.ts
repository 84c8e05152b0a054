import { describe, expect, it } from "vitest";
import { failureOf } from "../failures.ts";
import { ResponseBuilder } from "../response-builder.ts";
import { AnthropicEvents } from "./events.ts";

const AUTHOR = { provider: "anthropic", model: "m" };

/** Response that results from these events. */
function read(...all: object[]) {
  const events = new AnthropicEvents();
  const builder = new ResponseBuilder(AUTHOR);
  for (const event of all)
    for (const part of events.take(JSON.stringify(event))) {
      if (part.type === "finish") return builder.finish(part);
      builder.take(part);
    }
  return undefined;
}

const begin = (usage: object) => ({ type: "message_start", message: { usage } });
const start = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const grow = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string | null, usage: object = {}) => [
  { type: "message_delta", delta: { stop_reason }, usage },
  { type: "message_stop" },
];

describe("an answer", () => {
  it("keeps the signature of what was thought, and what only its author can read", () => {
    const response = read(
      start(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "thinking_delta", thinking: "hm" }),
      grow(0, { type: "signature_delta", signature: "sig" }),
      stop(0),
      start(1, { type: "redacted_thinking", data: "sealed" }),
      stop(1),
      start(2, { type: "text", text: "" }),
      grow(2, { type: "text_delta", text: "yes" }),
      stop(2),
      ...end("end_turn"),
    );
    expect(response?.parts).toMatchObject([
      { type: "reasoning", text: "hm", meta: { anthropic: { signature: "sig" } } },
      { type: "reasoning", text: "", meta: { anthropic: { redactedData: "sealed" } } },
      { type: "text", text: "yes" },
    ]);
  });

  it("puts calls together, those without input and those that come whole too", () => {
    const call = (id: string, input: object = {}) => ({
      type: "tool_use",
      id,
      name: "look",
      input,
    });
    const response = read(
      start(0, call("a")),
      grow(0, { type: "input_json_delta", partial_json: '{"at"' }),
      grow(0, { type: "input_json_delta", partial_json: ":1}" }),
      stop(0),
      start(1, call("b")),
      stop(1),
      start(2, call("c", { at: 3 })),
      stop(2),
      ...end("tool_use"),
    );
    expect(response).toMatchObject({
      stopReason: "tool_calls",
      parts: [
        { callId: "a", inputText: '{"at":1}' },
        { callId: "b", inputText: "{}" },
        { callId: "c", inputText: '{"at":3}' },
      ],
    });
  });

  it("counts what the beginning said and what the end corrects", () => {
    const counts = { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 };
    const details = { output_tokens: 40, output_tokens_details: { thinking_tokens: 7 } };
    const response = read(
      begin({ ...counts, cache_creation_input_tokens: 20 }),
      ...end("end_turn", { ...details, cache_read_input_tokens: null }),
    );
    expect(response?.usage).toEqual({
      inputTokens: 125,
      cachedInputTokens: 100,
      cacheWriteTokens: 20,
      outputTokens: 40,
      reasoningTokens: 7,
    });
  });

  it.each([
    ["end_turn", "end"],
    ["stop_sequence", "end"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["something_new", "other"],
    [null, "other"],
  ])("that stops with %s ends as %s", (reason, stopReason) => {
    expect(read(...end(reason))?.stopReason).toBe(stopReason);
  });

  it("passes over what is not known", () => {
    const response = read(
      { type: "ping" },
      { type: "something_new", index: 3 },
      start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      grow(0, { type: "input_json_delta", partial_json: "{}" }),
      stop(0),
      start(1, { type: "text", text: "" }),
      grow(1, { type: "citations_delta", citation: {} }),
      grow(1, { type: "text_delta", text: "on" }),
      stop(1),
      ...end("end_turn"),
    );
    expect(response?.parts).toMatchObject([{ type: "text", text: "on" }]);
  });
});

describe("what goes wrong inside an answer", () => {
  const context = { provider: "P", model: "m", secrets: [], nowMs: 0, hasBegun: true };
  const codeOf = (data: string) => {
    try {
      new AnthropicEvents().take(data);
    } catch (error) {
      return failureOf(error, context).code;
    }
    return null;
  };

  it.each([
    ["overloaded_error", "model_unavailable"],
    ["api_error", "model_unavailable"],
    ["rate_limit_error", "model_rate_limited"],
    ["authentication_error", "model_unauthorized"],
    ["permission_error", "model_unauthorized"],
    ["not_found_error", "model_not_found"],
    ["billing_error", "model_quota_exhausted"],
    ["invalid_request_error", "model_request_invalid"],
    ["something_new", "model_stream_broken"],
  ])("%s is %s", (type, code) => {
    expect(codeOf(JSON.stringify({ type: "error", error: { type, message: "so it is" } }))).toBe(
      code,
    );
  });

  it.each(["{", "not json", '{"type":"content_block_delta","delta":{"type":"text_delta"}}'])(
    "%j is a broken answer",
    (data) => {
      expect(codeOf(data)).toBe("model_stream_broken");
    },
  );
});
