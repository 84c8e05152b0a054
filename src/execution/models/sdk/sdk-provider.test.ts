import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { collect, failureIn, request, responseIn, streamed } from "../fake-request.ts";
import {
  type AssistantPart,
  MAX_RESPONSE_CHARS,
  type ModelMessage,
  type ModelResponse,
} from "../model.ts";
import { withRetries } from "../retry.ts";
import { PROVIDER_KINDS } from "./kinds.ts";
import { createSdkProvider } from "./sdk-provider.ts";

const KEY = "sk-test-canary-0123456789abcdef";
const IDLE_MS = 60;
/** Current time for the headers that name one. */
const NOW = Date.UTC(2026, 0, 1);

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

describe.each(PROVIDER_KINDS)("%s", (kind) => {
  const open = (idleTimeoutMs?: number) =>
    createSdkProvider({
      name: "test",
      title: "Testers",
      kind,
      baseUrl: `${server.url}/v1`,
      apiKey: KEY,
      clock: new FakeClock(NOW),
      idleTimeoutMs,
    });
  const ask = (text: string, idleTimeoutMs?: number) => collect(open(idleTimeoutMs), request(text));
  const lastBody = () => server.requests.at(-1)?.body ?? {};

  it("streams text, and gives it whole at the end", async () => {
    const events = await ask("SAY a longer answer in several pieces\nUSAGE 120 34 100 7");
    expect(events.filter(({ type }) => type === "text").length).toBeGreaterThan(2);
    expect(streamed(events, "text")).toBe("a longer answer in several pieces");
    const { parts, stopReason, usage } = responseIn(events);
    expect(parts).toMatchObject([{ type: "text", text: "a longer answer in several pieces" }]);
    expect(stopReason).toBe("end");
    expect(usage).toMatchObject({
      inputTokens: 120,
      cachedInputTokens: 100,
      outputTokens: 34,
      reasoningTokens: 7,
    });
  });

  it("puts a call together from many pieces", async () => {
    const json = JSON.stringify({ at: 7, text: 'a value that is long enough to be cut, "quoted"' });
    const events = await ask(`SPLIT 3\nCALL look ${json}`);
    expect(events.filter(({ type }) => type === "tool_input").length).toBeGreaterThan(10);
    expect(streamed(events, "tool_input")).toBe(json);
    const { parts, stopReason } = responseIn(events);
    expect(stopReason).toBe("tool_calls");
    expect(parts).toMatchObject([
      { type: "text", text: "Calling look. " },
      { type: "tool_call", tool: "look", inputText: json },
    ]);
  });

  it("keeps parallel calls apart, and the parts of events are those of the response", async () => {
    const events = await ask(
      'SPLIT 4\nCALL look {"at": 1}\nALSO look {"at": 22}\nALSO look {"at": 333}',
    );
    const calls = responseIn(events).parts.filter((part) => part.type === "tool_call");
    expect(calls.map(({ inputText }) => inputText)).toEqual([
      '{"at": 1}',
      '{"at": 22}',
      '{"at": 333}',
    ]);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(3);
    const { parts } = responseIn(events);
    for (const [index, part] of parts.entries()) {
      const pieces = events.flatMap((event) =>
        "part" in event && event.part === index ? [event.text] : [],
      );
      expect(pieces.join("")).toBe(part.type === "tool_call" ? part.inputText : part.text);
    }
  });

  it("gives calls with a repeated id an id each", async () => {
    const events = await ask('SAMEID\nCALL look {"at": 1}\nALSO look {"at": 2}');
    const calls = responseIn(events).parts.filter((part) => part.type === "tool_call");
    expect(calls.map(({ inputText }) => inputText)).toEqual(['{"at": 1}', '{"at": 2}']);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
  });

  it("passes an invented tool on by its name", async () => {
    const events = await ask('INVENT no_such_tool {"at": 1}');
    expect(responseIn(events).parts.at(-1)).toMatchObject({
      type: "tool_call",
      tool: "no_such_tool",
    });
  });

  it.skipIf(kind === "openai-chat")(
    "streams reasoning, and gives it back with its signature (chat completions of OpenAI have none)",
    async () => {
      const events = await ask("THINK hm, let me see\nSAY done");
      expect(streamed(events, "reasoning")).toBe("hm, let me see");
      const response = responseIn(events);
      expect(response.parts).toMatchObject([
        { type: "reasoning", text: "hm, let me see" },
        { type: "text", text: "done" },
      ]);
      await collect(open(), request("SAY again", { messages: continueConversation(response) }));
      const sent = JSON.stringify(lastBody());
      expect(sent).toContain("hm, let me see");
      if (kind === "anthropic") expect(sent).toContain('"signature":"sig"');
      if (kind === "openai") expect(sent).toContain('"encrypted_content":"sealed"');
    },
  );

  it("leaves out the reasoning of another model", async () => {
    const response = responseIn(await ask("THINK only mine\nSAY done"));
    await collect(
      open(),
      request("", { model: "test-2", messages: continueConversation(response) }),
    );
    expect(JSON.stringify(lastBody())).not.toContain("only mine");
  });

  it("asks without the reasoning that is refused", async () => {
    const said = `FAIL 400 1\nERROR invalid_request_error Invalid signature in thinking block of ${kind}\nSAY fine`;
    const response = responseIn(await ask("THINK bound to the past\nSAY done"));
    const messages = continueConversation(response, said);
    const events = await collect(open(), request("", { messages }));
    if (!messages.some(({ content }) => JSON.stringify(content).includes("bound to the past"))) {
      expect(failureIn(events).code).toBe("model_request_invalid");
      return;
    }
    expect(streamed(events, "text")).toBe("fine");
    expect(JSON.stringify(lastBody())).not.toContain("bound to the past");
  });

  it("sends calls, results and images in a way the provider takes", async () => {
    const messages: ModelMessage[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "SAY ok" },
          { type: "image", mediaType: "image/png", data: "aW1hZ2Ux" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "" },
          { type: "tool_call", callId: "odd id:1", tool: "odd tool!", input: "not an object" },
          { type: "tool_call", callId: "call_2", tool: "look", input: { at: 1 } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            callId: "odd id:1",
            tool: "odd tool!",
            content: [{ type: "text", text: "no such tool" }],
            isError: true,
          },
          {
            callId: "call_2",
            tool: "look",
            content: [
              { type: "text", text: "seen" },
              { type: "image", mediaType: "image/png", data: "aW1hZ2Uy" },
            ],
            isError: false,
          },
        ],
      },
    ];
    responseIn(await collect(open(), request("", { messages })));
    const sent = JSON.stringify(lastBody());
    if (kind === "anthropic") expect(sent.match(/"cache_control"/g)).toHaveLength(3);
    for (const wanted of ["aW1hZ2Ux", "aW1hZ2Uy", "no such tool", "seen", "odd_tool_"])
      expect(sent).toContain(wanted);
    expect(sent).not.toContain("odd id:1");
    expect(sent).not.toContain("odd tool!");
  });

  it("stops soon after it is aborted", async () => {
    const abort = new AbortController();
    const events: string[] = [];
    for await (const event of open().stream(request("SLOW 500 5", { signal: abort.signal }))) {
      events.push(event.type);
      if (events.length === 3) abort.abort();
    }
    expect(events.at(-1)).toBe("failed");
    expect(events.length).toBeLessThan(10);
    await expect.poll(() => server.requests.at(-1)?.wasCut).toBe(true);
  });

  it("lets go of the connection when nobody listens any more", async () => {
    for await (const event of open().stream(request("SLOW 500 5")))
      if (event.type === "text") break;
    await expect.poll(() => server.requests.at(-1)?.wasCut).toBe(true);
  });

  it.each([
    ["FAULT hang", "model_silent"],
    ["SAY a longer answer in pieces\nFAULT stall", "model_silent"],
    ["SAY a longer answer in pieces\nFAULT cut", "model_stream_broken"],
    ["SAY a longer answer in pieces\nFAULT end", "model_stream_broken"],
    ["SAY a longer answer in pieces\nFAULT garble", "model_stream_broken"],
    ["FAULT body", "model_stream_broken"],
    ["FAIL 500 99", "model_unavailable"],
    ["FAIL 503 99", "model_unavailable"],
    ["FAIL 529 99", "model_unavailable"],
    ["FAIL 408 99", "model_unavailable"],
    ["FAIL 409 99", "model_unavailable"],
    ["FAIL 429 99", "model_rate_limited"],
  ])("%j fails as %s, which may pass", async (script, code) => {
    const failure = failureIn(await ask(script, code === "model_silent" ? IDLE_MS : undefined));
    expect(failure).toMatchObject({ code, retryable: true });
    expect(failure.message).toContain("Testers");
  });

  it.each([
    ["FAIL 401 99", "model_unauthorized"],
    ["FAIL 403 99", "model_unauthorized"],
    ["FAIL 404 99", "model_not_found"],
    ["FAIL 400 99", "model_request_invalid"],
    ["FAIL 413 99", "context_too_long"],
    ["FAIL 400 99\nERROR invalid_request_error The request body is too large", "context_too_long"],
    [
      "FAIL 400 99\nERROR invalid_request_error max_tokens is too large: 9",
      "model_request_invalid",
    ],
    ["FAIL 422 99", "model_request_invalid"],
    ["FAIL 302 99\nHEADER location http://127.0.0.1:1/", "model_request_invalid"],
    ["FAIL 402 99", "model_quota_exhausted"],
    [
      "FAIL 429 99\nERROR insufficient_quota You exceeded your current quota",
      "model_quota_exhausted",
    ],
    [
      "FAIL 400 99\nERROR invalid_request_error prompt is too long: 210000 tokens > 200000 maximum",
      "context_too_long",
    ],
    ["FAIL 400 99\nERROR context_length_exceeded too much", "context_too_long"],
  ])("%j fails as %s, which will not pass", async (script, code) => {
    expect(failureIn(await ask(script))).toMatchObject({ code, retryable: false });
  });

  it.each([
    ["HEADER retry-after 7", "model_rate_limited", 7000],
    ["HEADER retry-after-ms 250", "model_rate_limited", 250],
    ["HEADER anthropic-ratelimit-tokens-reset 2026-01-01T00:00:30Z", "model_rate_limited", 30_000],
    ["HEADER x-ratelimit-reset-tokens 1m2s", "model_rate_limited", 62_000],
    ["HEADER retry-after 3600", "model_quota_exhausted", 3_600_000],
  ])("says how long %j asks to wait", async (header, code, retryAfterMs) => {
    const failure = failureIn(await ask(`FAIL 429 99\n${header}`));
    expect(failure).toMatchObject({ code, retryable: true, retryAfterMs });
  });

  it.each(["HUGE 50", "FAULT line"])("ends an answer without an end: %s", async (script) => {
    const events = await ask(script);
    expect(failureIn(events)).toMatchObject({ code: "model_response_too_large", retryable: false });
    expect(streamed(events, "text").length).toBeLessThanOrEqual(MAX_RESPONSE_CHARS);
    await expect.poll(() => server.requests.at(-1)?.wasCut).toBe(true);
  });

  it.each(["FAIL 529 2", "SAY a longer answer in pieces\nFAULT cut 2", "FAULT body 2"])(
    "gets through %j when it is asked again",
    async (script) => {
      const text = `${script}\nSAY better by ${kind}`;
      const patient = withRetries(open(), { random: () => 0 });
      const events = await collect(patient, request(text));
      expect(events.filter(({ type }) => type === "restart")).toHaveLength(2);
      const last = events.findLastIndex(({ type }) => type === "restart");
      expect(streamed(events.slice(last), "text")).toContain(`better by ${kind}`);
    },
  );

  it("never shows the key, nor anything that looks like one", async () => {
    const said = `bad key ${KEY} and sk-other-9876543210 and token=abcdef123456 ${"x".repeat(2000)}`;
    const { message } = failureIn(await ask(`FAIL 401 99\nERROR authentication_error ${said}`));
    expect(message).toContain("bad key [redacted]");
    expect(message).not.toMatch(/canary|9876543210|abcdef123456/);
    expect(message.length).toBeLessThan(600);
  });

  it("names a provider that is not there", async () => {
    const nobody = createSdkProvider({
      name: "test",
      title: "Testers",
      kind,
      baseUrl: "http://127.0.0.1:9/v1",
    });
    expect(failureIn(await collect(nobody, request("SAY hi")))).toMatchObject({
      code: "model_unavailable",
      retryable: true,
    });
  });
});

describe("what is sent", () => {
  const send = async (kind: (typeof PROVIDER_KINDS)[number], model = "test-1") => {
    const provider = createSdkProvider({
      name: "test",
      title: "T",
      kind,
      baseUrl: `${server.url}/v1`,
      apiKey: KEY,
    });
    responseIn(await collect(provider, request("SAY ok", { model })));
    return server.requests.at(-1);
  };

  it("to Anthropic: marks for the cache, room for a long answer, shown thinking", async () => {
    const sent = await send("anthropic", "claude-sonnet-5-5");
    expect(sent?.headers["x-api-key"]).toBe(KEY);
    expect(sent?.body).toMatchObject({
      max_tokens: 32_000,
      thinking: { type: "adaptive", display: "summarized" },
      system: [{ cache_control: { type: "ephemeral" } }],
      tools: [{ name: "look", cache_control: { type: "ephemeral" } }],
      messages: [{ content: [{ cache_control: { type: "ephemeral" } }] }],
    });
    expect((await send("anthropic"))?.body.thinking).toBeUndefined();
    expect((await send("anthropic", "claude-3-5-haiku-20241022"))?.body.max_tokens).toBe(8192);
  });

  it("to OpenAI: nothing is kept there, and the cache has the session's key", async () => {
    const sent = await send("openai", "gpt-6.1-sol");
    expect(sent?.path).toBe("/v1/responses");
    expect(sent?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(sent?.body).toMatchObject({
      store: false,
      prompt_cache_key: "ses_1",
      reasoning: { summary: "auto" },
    });
    const chat = await send("openai-chat");
    expect(chat?.path).toBe("/v1/chat/completions");
    expect(chat?.body).toMatchObject({ store: false, prompt_cache_key: "ses_1" });
  });

  it("asks without summaries of reasoning where they are refused", async () => {
    const provider = createSdkProvider({
      name: "test",
      title: "T",
      kind: "openai",
      baseUrl: `${server.url}/v1`,
    });
    const text =
      "FAIL 400 1\nERROR invalid_request_error Your organization must be verified to generate reasoning summaries.\nSAY ok";
    const events = await collect(provider, request(text, { model: "gpt-6.1-sol" }));
    expect(streamed(events, "text")).toBe("ok");
    expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain('"summary":"auto"');
  });
});

/** Conversation as the loop would continue it. */
function continueConversation({ parts }: ModelResponse, next = "SAY again"): ModelMessage[] {
  const content = parts.filter(
    (part): part is Extract<AssistantPart, { type: "text" | "reasoning" }> =>
      ["text", "reasoning"].includes(part.type),
  );
  return [
    { role: "user", content: [{ type: "text", text: "first" }] },
    { role: "assistant", content },
    { role: "user", content: [{ type: "text", text: next }] },
  ];
}

describe("through the server's model gateway", () => {
  const failure = async (answer: () => Promise<Response>) => {
    const provider = createSdkProvider({
      name: "test",
      title: "Testers",
      kind: "openai-compatible",
      baseUrl: "http://127.0.0.1:9/v1",
      viaServer: true,
      fetch: answer,
    });
    return failureIn(await collect(provider, request("SAY hi")));
  };
  const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
    failure(async () => Response.json({ error: { code, message: "no" } }, { status, headers }));

  it.each([
    ["it cannot be reached", () => failure(() => Promise.reject(new Error("ECONNREFUSED")))],
    ["its store is away", () => refusal(503, "store_unavailable")],
    ["it asks to slow down", () => refusal(429, "rate_limited")],
    ["a proxy before it says so", () => failure(async () => new Response("<h1>", { status: 502 }))],
  ])("knows that the server is away when %s", async (_when, fail) => {
    expect(await fail()).toMatchObject({ retryable: true, isServerAway: true });
  });

  it.each([
    ["could not be reached", () => refusal(502, "provider_unreachable")],
    ["is overloaded", () => refusal(503, "overloaded", { "x-muster-from-provider": "1" })],
    ["was removed", () => refusal(404, "not_found")],
    ["may not be paid any more", () => refusal(429, "insufficient_quota")],
    ["refuses the key", () => refusal(401, "no", { "x-muster-from-provider": "1" })],
  ])("knows that it is the provider that %s", async (_what, fail) => {
    expect((await fail()).isServerAway).toBeUndefined();
  });

  it("knows that its turn is over, and that a provider cannot say so", async () => {
    expect(await refusal(403, "run_over")).toMatchObject({ code: "turn_over", retryable: false });
    const said = await refusal(403, "run_over", { "x-muster-from-provider": "1" });
    expect(said).toMatchObject({ code: "model_unauthorized" });
  });
});
