import { describe, expect, it } from "vitest";
import * as z from "zod";
import { toolDefinition } from "#protocol/tools.ts";
import { collect, LOOK, request } from "../../fake-request.ts";
import type { AssistantPart, ModelMessage, ModelRequest, ToolResultPart } from "../../model.ts";
import { createSdkProvider, type SdkProviderOptions } from "../sdk-provider.ts";

interface Sent {
  url: string;
  method: string | undefined;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Request that leaves the process; a refusal answers it. */
async function send(
  more: Partial<ModelRequest>,
  options: Partial<SdkProviderOptions> = {},
): Promise<Sent> {
  let sent: Sent | undefined;
  const provider = createSdkProvider({
    name: "anthropic",
    title: "Anthropic",
    kind: "anthropic",
    baseUrl: "https://models.test/v1",
    fetch: async (url, init) => {
      const body = JSON.parse(String(init?.body));
      sent = { url: String(url), method: init?.method, headers: new Headers(init?.headers), body };
      return Response.json({ error: { type: "authentication_error" } }, { status: 401 });
    },
    ...options,
  });
  await collect(provider, request("hello", more));
  if (!sent) throw new Error("nothing was sent");
  return sent;
}

const messagesOf = async (messages: ModelMessage[], more: Partial<ModelRequest> = {}) =>
  (await send({ ...more, messages })).body.messages;

const MARK = { cache_control: { type: "ephemeral" } };
const AUTHOR = { muster: { provider: "anthropic", model: "test-1" } };

const user = (...texts: string[]): ModelMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const assistant = (...content: AssistantPart[]): ModelMessage => ({ role: "assistant", content });
const results = (...content: ToolResultPart[]): ModelMessage => ({ role: "tool", content });

const text = (said: string): AssistantPart => ({ type: "text", text: said });
const call = (callId: string, input: unknown = {}, tool = "look"): AssistantPart => ({
  type: "tool_call",
  callId,
  tool,
  input,
});
const thought = (said: string, fields: object, author: object = AUTHOR): AssistantPart => ({
  type: "reasoning",
  text: said,
  meta: { anthropic: fields, ...author },
});
const image = (data: string) => ({ type: "image" as const, mediaType: "image/png", data });
const result = (
  callId: string,
  content: ToolResultPart["content"],
  isError = false,
): ToolResultPart => ({ callId, tool: "look", content, isError });

const textBlock = (said: string) => ({ type: "text", text: said });
const imageBlock = (data: string) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});
const callBlock = (id: string, input: object = {}, name = "look") => ({
  type: "tool_use",
  id,
  name,
  input,
});
const resultBlock = (tool_use_id: string, content: unknown) => ({
  type: "tool_result",
  tool_use_id,
  content,
});

/** Body of the simplest request. */
const SIMPLE = {
  model: "test-1",
  max_tokens: 32_000,
  stream: true,
  system: [{ ...textBlock("You are a test."), ...MARK }],
  messages: [{ role: "user", content: [{ ...textBlock("hello"), ...MARK }] }],
  tools: [
    {
      name: "look",
      description: "Looks.",
      input_schema: LOOK.inputSchema,
      eager_input_streaming: true,
      ...MARK,
    },
  ],
  tool_choice: { type: "auto" },
};

describe("address and headers", () => {
  const SAID = ["content-type", "anthropic-version", "x-api-key", "authorization"];
  const credentials = async (options: Partial<SdkProviderOptions>, more = {}) => {
    const { headers } = await send(more, options);
    return SAID.slice(2).map((name) => headers.get(name));
  };

  it("posts JSON to the Messages API", async () => {
    const { url, method, headers } = await send({}, { apiKey: "key" });
    expect([method, url]).toEqual(["POST", "https://models.test/v1/messages"]);
    expect(SAID.map((name) => headers.get(name))).toEqual([
      "application/json",
      "2023-06-01",
      "key",
      null,
    ]);
  });

  it("asks for no beta feature, and says who asks", async () => {
    const { headers } = await send({ model: "claude-sonnet-5-5" });
    expect(headers.get("anthropic-beta")).toBeNull();
    expect(headers.get("user-agent")).toBe("muster");
  });

  it("sends a key, else a token, else a placeholder", async () => {
    expect(await credentials({ apiKey: "key", authToken: "token" })).toEqual(["key", null]);
    expect(await credentials({ authToken: "token" })).toEqual([null, "Bearer token"]);
    expect(await credentials({})).toEqual(["none", null]);
  });

  it("sends the run token through the server", async () => {
    const sent = await credentials({ viaServer: true, apiKey: "key" }, { runToken: "run" });
    expect(sent).toEqual([null, "Bearer run"]);
  });
});

describe("settings", () => {
  it("marks the tools, the system prompt and the conversation for the cache", async () => {
    expect((await send({})).body).toEqual(SIMPLE);
  });

  it("leaves out an empty system prompt, and the choice between no tools", async () => {
    const { system: _, tools: __, tool_choice: ___, ...rest } = SIMPLE;
    expect((await send({ system: "", tools: [] })).body).toEqual(rest);
  });

  it("marks only the last of several tools", async () => {
    const schema = z.strictObject({ path: z.string() });
    const read = toolDefinition({ name: "read", description: "Reads.", schema });
    const [{ cache_control: _, ...look }] = SIMPLE.tools as [(typeof SIMPLE.tools)[0]];
    expect((await send({ tools: [LOOK, read] })).body.tools).toEqual([
      look,
      { ...look, name: "read", description: "Reads.", input_schema: read.inputSchema, ...MARK },
    ]);
  });

  const ADAPTIVE = { type: "adaptive", display: "summarized" };
  it.each([
    ["claude-sonnet-5-5", 32_000, ADAPTIVE],
    ["claude-opus-5-5", 32_000, ADAPTIVE],
    ["claude-haiku-5-5", 32_000, ADAPTIVE],
    ["claude-fable-5-1", 32_000, ADAPTIVE],
    ["claude-opus-5", 32_000, ADAPTIVE],
    ["claude-opus-4-8", 32_000, ADAPTIVE],
    ["claude-opus-4-7-20260416", 32_000, ADAPTIVE],
    ["claude-opus-4-6", 32_000, ADAPTIVE],
    ["claude-sonnet-4-6", 32_000, ADAPTIVE],
    ["claude-opus-4-5", 32_000, undefined],
    ["claude-sonnet-4-5-20250929", 32_000, undefined],
    ["claude-haiku-4-5", 32_000, undefined],
    ["claude-opus-4-1", 32_000, undefined],
    ["claude-sonnet-4-20250514", 32_000, undefined],
    ["claude-3-7-sonnet-latest", 32_000, undefined],
    ["claude-3-5-haiku-20241022", 8192, undefined],
    ["claude-3-haiku-20240307", 4096, undefined],
    ["claude-2.1", 4096, undefined],
    ["claude-novella-9", 32_000, undefined],
    ["somebody-else", 32_000, undefined],
  ])("%s: %d tokens, thinking %j", async (model, max_tokens, thinking) => {
    const { body } = await send({ model });
    expect(body).toEqual({ ...SIMPLE, model, max_tokens, ...(thinking && { thinking }) });
  });

  it("answers with no more than is asked for, and no more than the model can", async () => {
    const room = async (model: string, maxOutputTokens: number) =>
      (await send({ model, maxOutputTokens })).body.max_tokens;
    expect(await room("claude-sonnet-5-5", 500)).toBe(500);
    expect(await room("claude-sonnet-5-5", 64_000)).toBe(64_000);
    expect(await room("claude-3-haiku-20240307", 500)).toBe(500);
    expect(await room("claude-3-haiku-20240307", 64_000)).toBe(4096);
  });
});

describe("messages", () => {
  it("sends texts and images, and the mark on the last of them", async () => {
    const content = [{ type: "text" as const, text: "see" }, image("b25l"), image("dHdv")];
    expect(await messagesOf([{ role: "user", content }])).toEqual([
      {
        role: "user",
        content: [textBlock("see"), imageBlock("b25l"), { ...imageBlock("dHdv"), ...MARK }],
      },
    ]);
  });

  it("replaces what is blank, which the provider refuses", async () => {
    const messages = [
      user("", "  \n", "one"),
      assistant(text(" "), call("a")),
      results(result("a", []), result("b", [{ type: "text", text: "" }], true)),
      user(" "),
    ];
    expect(await messagesOf(messages)).toEqual([
      { role: "user", content: [textBlock("one")] },
      { role: "assistant", content: [callBlock("a")] },
      {
        role: "user",
        content: [
          resultBlock("a", "(empty)"),
          { ...resultBlock("b", "(empty)"), is_error: true },
          { ...textBlock("(empty)"), ...MARK },
        ],
      },
    ]);
  });

  it("joins messages of one side, and leaves out an assistant that said nothing", async () => {
    const messages = [
      user("one"),
      assistant(text("")),
      user("two"),
      assistant(text("three"), call("a")),
      assistant(text("four")),
      results(result("a", [{ type: "text", text: "five" }])),
      user("six", "seven"),
    ];
    expect(await messagesOf(messages)).toEqual([
      { role: "user", content: [textBlock("one"), textBlock("two")] },
      { role: "assistant", content: [textBlock("three"), textBlock("four"), callBlock("a")] },
      {
        role: "user",
        content: [resultBlock("a", "five"), textBlock("six"), { ...textBlock("seven"), ...MARK }],
      },
    ]);
  });

  it("sends results as text, and as blocks when they hold images", async () => {
    const said = (word: string) => ({ type: "text" as const, text: word });
    const messages = [
      assistant(call("a"), call("b"), call("c"), call("d")),
      results(
        result("a", [said("one"), said(""), said("two")]),
        result("b", [said("no")], true),
        result("c", [said("seen"), image("b25l")]),
        result("d", [image("dHdv")], true),
      ),
    ];
    expect(await messagesOf(messages)).toEqual([
      { role: "assistant", content: [..."abcd"].map((id) => callBlock(id)) },
      {
        role: "user",
        content: [
          resultBlock("a", "one\ntwo"),
          { ...resultBlock("b", "no"), is_error: true },
          resultBlock("c", [textBlock("seen"), imageBlock("b25l")]),
          { ...resultBlock("d", [textBlock("The tool failed."), imageBlock("dHdv")]), ...MARK },
        ],
      },
    ]);
  });

  it("rewrites names, ids and inputs that the provider would refuse", async () => {
    const content = [
      call("odd id:1", "not an object", "odd tool!"),
      call("b", [1], "n".repeat(100)),
      call("c".repeat(65), null, ""),
      call("d", { at: 1, deep: { list: [null, "x"] } }),
    ];
    const again = results(result("odd id:1", [{ type: "text", text: "no" }]));
    expect(await messagesOf([assistant(...content), again])).toEqual([
      {
        role: "assistant",
        content: [
          callBlock("call_dfa806f4ea0ca1060b431de9", { unparsed: "not an object" }, "odd_tool_"),
          callBlock("b", { unparsed: "1" }, "n".repeat(64)),
          callBlock("call_b30855e510446ac34706c5ac", { unparsed: "null" }, "unnamed"),
          callBlock("d", { at: 1, deep: { list: [null, "x"] } }),
        ],
      },
      {
        role: "user",
        content: [{ ...resultBlock("call_dfa806f4ea0ca1060b431de9", "no"), ...MARK }],
      },
    ]);
  });

  it("puts calls behind texts, but leaves thinking in its place", async () => {
    const messages = [
      user("go"),
      assistant(
        call("a"),
        text("one"),
        thought("hm", { signature: "sig" }),
        call("b"),
        text("two"),
        call("c"),
      ),
    ];
    const [, said] = (await messagesOf(messages)) as { content: unknown }[];
    expect(said?.content).toEqual([
      textBlock("one"),
      callBlock("a"),
      { type: "thinking", thinking: "hm", signature: "sig" },
      textBlock("two"),
      callBlock("b"),
      callBlock("c"),
    ]);
  });

  it("trims the end only where the model goes on with it", async () => {
    const said = assistant(text(" one "), text(" two \n"));
    const trimmed = { role: "assistant", content: [textBlock(" one "), textBlock("two")] };
    const whole = { role: "assistant", content: [textBlock(" one "), textBlock(" two \n")] };
    expect(await messagesOf([said])).toEqual([trimmed]);
    expect(await messagesOf([said, user("go")])).toMatchObject([whole, {}]);
    const called = assistant(text("one "), call("a"));
    expect(await messagesOf([called])).toMatchObject([{ content: [textBlock("one "), {}] }]);
  });
});

describe("thinking", () => {
  const sent = async (part: AssistantPart) => {
    const [said] = (await messagesOf([assistant(part, text("yes")), user("go")])) as [
      { content: unknown[] },
    ];
    return said.content.slice(0, -1);
  };

  it.each([
    ["signed", thought("hm", { signature: "sig" }), ["hm", "sig"]],
    ["signed, but not shown", thought("", { signature: "sig" }), ["", "sig"]],
    ["signed with nothing", thought("hm", { signature: "" }), ["hm", ""]],
    ["both", thought("hm", { signature: "sig", redactedData: "sealed" }), ["hm", "sig"]],
  ])("goes back when it is %s", async (_how, part, [thinking, signature]) => {
    expect(await sent(part)).toEqual([{ type: "thinking", thinking, signature }]);
  });

  it("goes back sealed when it was hidden", async () => {
    expect(await sent(thought("", { redactedData: "sealed" }))).toEqual([
      { type: "redacted_thinking", data: "sealed" },
    ]);
  });

  it.each([
    ["without a signature", thought("hm", {})],
    ["without fields of the provider", { type: "reasoning" as const, text: "hm", meta: AUTHOR }],
    ["without an author", thought("hm", { signature: "sig" }, {})],
    [
      "of another model",
      thought("hm", { signature: "sig" }, { muster: { provider: "anthropic", model: "test-2" } }),
    ],
    [
      "of another provider",
      thought("hm", { signature: "sig" }, { muster: { provider: "other", model: "test-1" } }),
    ],
  ])("is left out %s", async (_how, part) => {
    expect(await sent(part)).toEqual([]);
  });

  it("leaves no trace where it was left out", async () => {
    const unsigned = thought("hm", {});
    const joined = [{ content: [textBlock("one"), { ...textBlock("two"), ...MARK }] }];
    expect(await messagesOf([user("one"), assistant(unsigned), user("two")])).toMatchObject(joined);
    expect(await messagesOf([assistant(text("one "), unsigned)])).toEqual([
      { role: "assistant", content: [textBlock("one")] },
    ]);
    expect(await messagesOf([user(" one "), assistant(unsigned)])).toEqual([
      { role: "user", content: [{ ...textBlock(" one "), ...MARK }] },
    ]);
  });

  it("ignores fields that it does not know", async () => {
    const meta = { anthropic: { later: true, signature: "sig" }, ...AUTHOR };
    const parts: AssistantPart[] = [
      { type: "reasoning", text: "hm", meta },
      { type: "text", text: "one", meta },
      { type: "tool_call", callId: "a", tool: "look", input: {}, meta },
    ];
    expect(await messagesOf([assistant(...parts)])).toEqual([
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          textBlock("one"),
          callBlock("a"),
        ],
      },
    ]);
  });
});
