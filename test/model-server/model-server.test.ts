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

/** One request per format: its body for a user's text, and the place of the answer. */
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

  it("calls an offered tool, and otherwise names the offered ones", async () => {
    expect(await streamed('CALL look {"at": 1}')).toMatch(callIn);
    expect(await streamed('CALL jump {"at": 1}')).toContain("No such tool");
  });

  it("answers in one piece without streaming", async () => {
    const answer = await (await post(path, body("SAY all at once"))).text();
    expect(answer).toContain("all at once");
  });

  it("sends the requested error text with a failure", async () => {
    const failing = body("FAIL 429 99\nHEADER retry-after 7\nERROR insufficient_quota used up");
    const response = await post(path, failing);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.text()).toContain('"type":"insufficient_quota","message":"used up"');
  });

  it("splits arguments, invents tools and repeats ids", async () => {
    const stream = await streamed('SPLIT 2\nSAMEID\nINVENT jump {"at":1}\nALSO look {"at":2}');
    expect(stream).toContain('"jump"');
    expect(stream).toContain('"1}"');
    const ids = new Set([...stream.matchAll(/"(?:call_|toolu_)[0-9a-f]{8}"/g)].map(([id]) => id));
    expect(ids.size).toBe(1);
  });

  it("breaks midway, as often as requested", async () => {
    const text = `SAY a longer answer in pieces\nFAULT end 1 ${path}`;
    expect(await streamed(text)).not.toContain(end);
    expect(await streamed(text)).toContain(end);
    expect(await streamed("SAY a longer answer in pieces\nFAULT garble")).toContain("not json");
    await expect(streamed("SAY a longer answer in pieces\nFAULT cut")).rejects.toThrow();
    const odd = await post(path, { ...body("FAULT body"), stream: true });
    expect(odd.status).toBe(200);
    expect(await odd.text()).toContain("scripted failure");
  });

  it("sends as much as requested", async () => {
    expect((await streamed("HUGE 2")).length).toBeGreaterThan(2e6);
  });

  it("fails as often as requested", async () => {
    const failing = body(`FAIL 503 2\nSAY better by ${path}`);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(path, failing)).status);
    expect(statuses).toEqual([503, 503, 200]);
  });
});

describe("a played conversation", () => {
  const seen: string[][] = [];
  beforeAll(() =>
    server.play("ada", ({ userTexts, toolResults }) => {
      seen.push(userTexts);
      return toolResults.length === 0 ? 'CALL look {"at": 1}' : `SAY it said ${toolResults[0]}`;
    }),
  );

  it.each(FORMATS)("follows its player, whatever was said last: $name", async ({ path, body }) => {
    const talk = body("PLAY ada") as { messages?: object[]; input?: object[] };
    (talk.messages ?? talk.input)?.push(
      { role: "assistant", content: "yes" },
      { role: "user", content: "SAY something else" },
    );
    expect(await (await post(path, talk)).text()).toContain('"look"');
    expect(seen.at(-1)).toEqual(["PLAY ada", "SAY something else"]);
  });

  it("may be named in the system prompt, and continues after a result", async () => {
    const answer = await post("/v1/messages", {
      system: [{ type: "text", text: "Be brief.\nPLAY ada" }],
      tools: [TOOL],
      messages: [
        { role: "user", content: "hello" },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "seen" }] },
      ],
    });
    expect(await answer.text()).toContain("it said seen");
  });

  it("is an ordinary one when no player has its name", async () => {
    const answer = await post("/v1/messages", FORMATS[0].body("PLAY nobody\nSAY as ever"));
    expect(await answer.text()).toContain("as ever");
  });
});

it("runs the rounds of a script and reports the last results", async () => {
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

it.each(["FAULT hang", "SAY a longer answer in pieces\nFAULT stall", "FAULT line"])(
  "%j lasts until the client has gone",
  async (text) => {
    const gone = new AbortController();
    const messages = [{ role: "user", content: text }];
    const answer = fetch(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ stream: true, messages }),
      signal: gone.signal,
    });
    await expect.poll(() => server.requests.at(-1)?.conversation.userText).toBe(text);
    gone.abort();
    await expect(answer.then((response) => response.text())).rejects.toThrow();
    await expect.poll(() => server.requests.at(-1)?.wasCut).toBe(true);
  },
);

it("notices that a client has disconnected", async () => {
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
