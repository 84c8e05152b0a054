import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer, TEST_MODEL } from "./model-server.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const post = (path: string, body: object) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: TEST_MODEL, ...body }),
  });

const TOOL = { name: "look", description: "", input_schema: {}, parameters: {} };

/** One request a format: what to send for a user's text, and where its answer stands. */
const FORMATS = [
  {
    name: "anthropic messages",
    path: "/v1/messages",
    body: (text: string) => ({ messages: [{ role: "user", content: text }], tools: [TOOL] }),
    textIn: /"text_delta","text":"((?:[^"\\]|\\.)*)"/g,
    callIn: /"tool_use","id":"toolu_\w+","name":"look"/,
    end: "message_stop",
  },
  {
    name: "openai chat completions",
    path: "/v1/chat/completions",
    body: (text: string) => ({
      messages: [{ role: "user", content: text }],
      tools: [{ function: TOOL }],
    }),
    textIn: /"content":"((?:[^"\\]|\\.)*)"/g,
    callIn: /"function":\{"name":"look"/,
    end: "[DONE]",
  },
  {
    name: "openai responses",
    path: "/v1/responses",
    body: (text: string) => ({ input: [{ role: "user", content: text }], tools: [TOOL] }),
    textIn: /"delta":"((?:[^"\\]|\\.)*)","logprobs"/g,
    callIn: /"type":"function_call","status":"completed","name":"look"/,
    end: "response.completed",
  },
] as const;

describe.each(FORMATS)("$name", ({ path, body, textIn, callIn, end }) => {
  const streamed = async (text: string) =>
    (await post(path, { ...body(text), stream: true })).text();

  it("streams the answer in pieces", async () => {
    const stream = await streamed("SAY a longer answer in pieces");
    const pieces = [...stream.matchAll(textIn)].map(([, piece]) => piece).filter(Boolean);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("a longer answer in pieces");
    expect(stream).toContain(end);
  });

  it("calls a tool that was offered, and names those there are otherwise", async () => {
    expect(await streamed('CALL look {"at": 1}')).toMatch(callIn);
    expect(await streamed('CALL jump {"at": 1}')).toContain("No such tool");
  });

  it("answers whole when it is not asked to stream", async () => {
    const answer = await (await post(path, body("SAY all at once"))).text();
    expect(answer).toContain("all at once");
  });

  it("fails as often as it is told to", async () => {
    const failing = body(`FAIL 503 2\nSAY better by ${path}`);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(path, failing)).status);
    expect(statuses).toEqual([503, 503, 200]);
  });
});

it("goes through the rounds of a script and reports the last results", async () => {
  const messages: object[] = [
    { role: "user", content: 'CALL look {"n":1}\nALSO look {"n":2}\nCALL look {"n":3}' },
  ];
  const next = async () => {
    const answer = (await (await post("/v1/messages", { messages, tools: [TOOL] })).json()) as {
      content: { type: string; id?: string; input?: unknown; text?: string }[];
    };
    const calls = answer.content.filter(({ type }) => type === "tool_use");
    messages.push({ role: "assistant", content: answer.content });
    const results = calls.map(({ id }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: "seen",
    }));
    if (results.length > 0) messages.push({ role: "user", content: results });
    return { inputs: calls.map(({ input }) => input), text: answer.content[0]?.text };
  };
  expect((await next()).inputs).toEqual([{ n: 1 }, { n: 2 }]);
  expect((await next()).inputs).toEqual([{ n: 3 }]);
  expect((await next()).text).toBe("Tool said: seen");
});

it("notices that a client has gone", async () => {
  const gone = new AbortController();
  const response = await fetch(`${server.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({ stream: true, messages: [{ role: "user", content: "SLOW 50 20" }] }),
    signal: gone.signal,
  });
  await response.body?.getReader().read();
  gone.abort();
  await expect.poll(() => server.requests.at(-1)?.wasCut).toBe(true);
});
