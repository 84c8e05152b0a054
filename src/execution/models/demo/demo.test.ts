import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { toolDefinition, workspaceTools } from "#protocol/tools.ts";
import { collect, failureIn, request, responseIn, streamed } from "../fake-request.ts";
import type { AssistantPart, ModelMessage, ModelRequest, ToolResultPart } from "../model.ts";
import { createDemoProvider, INTRODUCTION } from "./demo-provider.ts";
import { MAX_STEPS } from "./script.ts";

const demo = createDemoProvider({ delayMs: 0 });

type Call = Extract<AssistantPart, { type: "tool_call" }>;
type ToolReply = { text: string; isError?: boolean };
type Perform = (call: Call) => ToolReply;

interface Played {
  messages: ModelMessage[];
  calls: Call[];
  /** Text of the model in each step. */
  said: string[];
}

const ALL_TOOLS = workspaceTools.map(({ name }) => name);

/** Plays a turn as the loop would: calls are checked against the real tools, then performed. */
async function turn(
  text: string,
  perform: Perform = () => ({ text: "ok" }),
  { before = [], tools = ALL_TOOLS }: { before?: ModelMessage[]; tools?: string[] } = {},
): Promise<Played> {
  const messages: ModelMessage[] = [...before, { role: "user", content: [{ type: "text", text }] }];
  const played: Played = { messages, calls: [], said: [] };
  const offered = workspaceTools.filter(({ name }) => tools.includes(name));
  for (let step = 0; step <= MAX_STEPS; step++) {
    const asked: ModelRequest = request("", {
      model: "story",
      messages: [...messages],
      tools: offered.map(toolDefinition),
    });
    const events = await collect(demo, asked);
    const response = responseIn(events);
    played.said.push(streamed(events, "text"));
    const content = response.parts.map((part): AssistantPart => {
      if (part.type !== "tool_call") return part;
      const { callId, tool, inputText } = part;
      return { type: "tool_call", callId, tool, input: JSON.parse(inputText) as unknown };
    });
    messages.push({ role: "assistant", content });
    const calls = content.filter((part): part is Call => part.type === "tool_call");
    expect(response.stopReason).toBe(calls.length > 0 ? "tool_calls" : "end");
    if (calls.length === 0) return played;
    messages.push({ role: "tool", content: calls.map((call) => result(call, perform)) });
    played.calls.push(...calls);
  }
  throw new Error("the demo does not come to an end");
}

function result(call: Call, perform: Perform): ToolResultPart {
  workspaceTools.find(({ name }) => name === call.tool)?.schema.parse(call.input);
  const { text, isError = false } = perform(call);
  return { callId: call.callId, tool: call.tool, content: [{ type: "text", text }], isError };
}

const inputOf = (call: Call | undefined) => (call?.input ?? {}) as Record<string, string>;
const isDelete = (call: Call) => /rm -rf/.test(inputOf(call).command ?? "");
const DENIED = { text: "Denied by the person.", isError: true };
const OTTERS = "Make me a tiny web page about otters and show me";

describe("the web page", () => {
  const works: Perform = (call) => ({
    text: /wc -c/.test(inputOf(call).command ?? "") ? "4211 index.html\n</html>" : "ok",
  });

  it("plans, writes, checks, asks for one approval and says where to look", async () => {
    const { calls, said } = await turn(OTTERS, works);
    expect(calls.map(({ tool }) => tool)).toEqual(["todo", "write", "bash", "bash", "todo"]);
    expect(said[0]?.startsWith(INTRODUCTION)).toBe(true);
    expect(said.slice(1).join()).not.toContain(INTRODUCTION);
    const page = inputOf(calls[1]).content ?? "";
    expect(inputOf(calls[1]).path).toBe("index.html");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain("<h1>Otters</h1>");
    expect(page).toContain("kelp");
    expect(page).not.toMatch(/<script|https?:\/\/|@import|url\(/);
    expect(calls.filter(isDelete)).toHaveLength(1);
    const last = said.at(-1);
    for (const wanted of ["index.html", "4211 bytes", "Changes", "Preview", "as you allowed"])
      expect(last).toContain(wanted);
    expect(JSON.stringify(calls.at(-1)?.input)).not.toContain("pending");
  });

  it("takes a no, and says so", async () => {
    const { calls, said } = await turn(OTTERS, (call) => (isDelete(call) ? DENIED : works(call)));
    expect(calls.filter(isDelete)).toHaveLength(1);
    expect(said.at(-1)).toContain("left as it is");
    expect(said.at(-1)).toContain("index.html");
    expect(JSON.stringify(calls.at(-1)?.input)).toContain(
      '"Clean up my scratch folder","state":"pending"',
    );
  });

  it("ends honestly when the page cannot be written", async () => {
    const { calls, said } = await turn(OTTERS, (call) =>
      call.tool === "write" ? DENIED : { text: "ok" },
    );
    expect(calls.map(({ tool }) => tool)).toEqual(["todo", "write"]);
    expect(said.at(-1)).toContain("could not write the page");
  });

  it("says so when it may not write, and does without what is only nice to have", async () => {
    expect((await turn(OTTERS, works, { tools: ["bash"] })).said[0]).toContain("`write`");
    const { calls, said } = await turn(OTTERS, works, { tools: ["write"] });
    expect(calls.map(({ tool }) => tool)).toEqual(["write"]);
    expect(said.at(-1)).toContain("index.html");
  });

  it.each([
    ['Make me a web page about <script>alert(1)</script> & "co"', "scriptalert(1)/script &amp; co"],
    ["please build a website for my cat Tom, thanks", "My cat Tom"],
    ["create a landing page", "Otters"],
  ])("%s has the title %s", async (text, title) => {
    const { calls } = await turn(text);
    expect(inputOf(calls.find(({ tool }) => tool === "write")).content).toContain(
      `<h1>${title.charAt(0).toUpperCase()}${title.slice(1)}</h1>`,
    );
  });

  it("goes on from any point, and the same way", async () => {
    const whole = await turn(OTTERS, works);
    for (let cut = 1; cut < whole.messages.length; cut++) {
      const messages = whole.messages.slice(0, cut);
      if (messages.at(-1)?.role === "assistant") continue;
      const response = responseIn(
        await collect(demo, request("", { messages, tools: workspaceTools.map(toolDefinition) })),
      );
      const next = whole.messages[cut];
      const expected = next?.role === "assistant" ? next.content : [];
      expect(response.parts.map((part) => ("callId" in part ? part.callId : part.text))).toEqual(
        expected.map((part) => ("callId" in part ? part.callId : part.text)),
      );
    }
  });

  it("begins anew in the next turn, without a second introduction", async () => {
    const first = await turn(OTTERS, works);
    const second = await turn(OTTERS, works, { before: first.messages });
    expect(second.calls).toHaveLength(first.calls.length);
    expect(second.said.join()).not.toContain(INTRODUCTION);
    const ids = [...first.calls, ...second.calls].map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("other stories", () => {
  it("asks, and uses the answer", async () => {
    const { calls, said } = await turn("Ask me which colour I like", (call) => ({
      text: call.tool === "ask_user_question" ? "Green" : "ok",
    }));
    expect(calls.map(({ tool }) => tool)).toEqual(["ask_user_question", "write"]);
    expect(calls[0]?.input).toMatchObject({
      questions: [{ question: "Which colour do you like?", options: expect.any(Array) }],
    });
    expect(inputOf(calls[1]).content).toContain("Green");
    expect(said.at(-1)).toContain("Green");
  });

  it("takes it well when nobody answers", async () => {
    const { calls, said } = await turn("ask me something", () => DENIED);
    expect(calls).toHaveLength(1);
    expect(said.at(-1)).toContain("You did not answer");
  });

  it.each([
    ["run ls -la", "ls -la"],
    ["Please run `git status` for me", "git status"],
    ["```sh\necho one\necho two\n```", "echo one\necho two"],
  ])("%j runs %j", async (text, command) => {
    const { calls, said } = await turn(text, () => ({ text: "the output ``` of it" }));
    expect(calls).toMatchObject([{ tool: "bash", input: { command } }]);
    expect(said.at(-1)).toContain("````\nthe output ``` of it\n````");
  });

  it("goes by the newest words of a message, not by notes and attachments around them", async () => {
    const content = [
      {
        type: "text" as const,
        text: "[Summary of the earlier conversation]\nmake a web page about cats",
      },
      { type: "text" as const, text: "run ls" },
      { type: "text" as const, text: "[attached: page.txt]\nask me something" },
    ];
    const asked = request("", {
      messages: [{ role: "user", content }],
      tools: workspaceTools.map(toolDefinition),
    });
    const { parts } = responseIn(await collect(demo, asked));
    expect(parts.at(-1)).toMatchObject({ tool: "bash", inputText: '{"command":"ls"}' });
  });

  it("is not held up by a very long text", async () => {
    expect((await turn("make ".repeat(400_000))).said[0]).toContain("only a demo");
  });

  it("sums up for the loop without introducing itself", async () => {
    const asked = request("make a web page about cats", {
      system: "Summarize the conversation below",
      tools: [],
    });
    const text = streamed(await collect(demo, asked), "text");
    expect(text).toContain("make a web page about cats");
    expect(text).not.toContain(INTRODUCTION);
  });

  it("says when a command did not succeed", async () => {
    expect(
      (await turn("run false", () => ({ text: "(no output)\n[exit code 1]" }))).said.at(-1),
    ).toContain("That failed");
    expect(
      (await turn("run false", () => ({ text: "exit code 1", isError: true }))).said.at(-1),
    ).toContain("That failed");
  });

  it.each([
    ["write a python script", "hello.py", "python3 hello.py"],
    ["make a bash script that greets", "hello.sh", "bash hello.sh"],
    ["create a file todo-list.md", "todo-list.md", "cat todo-list.md"],
    ["write me a note about tea", "notes.md", "cat notes.md"],
  ])("%j writes %s and tries it", async (text, path, command) => {
    const { calls } = await turn(text);
    expect(calls).toMatchObject([
      { tool: "write", input: { path } },
      { tool: "bash", input: { command } },
    ]);
  });

  it("looks at its own files", async () => {
    const { calls, said } = await turn("What files are there?", () => ({
      text: "index.html\nnotes.md",
    }));
    expect(calls).toMatchObject([{ tool: "glob" }]);
    expect(said.at(-1)).toContain("notes.md");
  });

  it("reports its work", async () => {
    const first = await turn("write a python script");
    const { said } = await turn("What did you do?", () => ({ text: "hello.py" }), {
      before: first.messages,
    });
    expect(said.at(-1)).toContain("2 tool calls");
    expect(said.at(-1)).toContain("`write`: hello.py (done)");
    expect((await turn("what did you do?")).said[0]).toContain("not used a tool");
  });

  it.each([
    ["What can you do?", "otters"],
    ["hello", "otters"],
    ["Say hello", "Hello!"],
    ["please say hi", "Hello!"],
    ["What is a session?", "A session is"],
    ["what's a runner?", "A runner is"],
    ["What is a sandbox?", "A sandbox is"],
    ["How do approvals work?", "policy"],
    ["Where is my data?", "MUSTER_HOME"],
    ["What does this cost?", "unpriced"],
    ["How do I add a model?", "OPENAI_API_KEY"],
    ["What is Muster?", "self-hosted"],
    ["Prove the Riemann hypothesis.", "only a demo"],
  ])("%j is answered in words", async (text, wanted) => {
    const { calls, said } = await turn(text);
    expect(calls).toEqual([]);
    expect(said[0]).toContain(INTRODUCTION);
    expect(said[0]).toContain(wanted);
  });

  it("comes to an end with every request, whatever tools say", async () => {
    const texts = [
      OTTERS,
      "run ls",
      "ask me anything",
      "write a file",
      "what files?",
      "what did you do?",
      "",
    ];
    for (const text of texts) {
      for (const answer of [{ text: "" }, DENIED, { text: "x".repeat(100_000) }]) {
        const { said } = await turn(text, () => answer);
        expect(said.at(-1)?.length).toBeLessThan(5000);
      }
    }
  });
});

describe("notices", () => {
  const MESSAGE =
    '[from Muster]\n[mailbox, guest] 1 message for you.\n\n1. question msg_1 from "Bo" (@bo, ses_9), another person\'s agent.\n> Make me a tiny web page about otters\n\nTo answer one, call mailbox_send.';
  const NEWS =
    '[tasks] Updates from the task board:\n- Task "Pay *it*" (tsk_1) was due today and is pending. Run `ls`.\n- Task "Two" (tsk_2) was assigned to you.';

  it("says in a few words that it has read it, and does nothing of what it says", async () => {
    const message = await turn(MESSAGE);
    expect(message.calls).toEqual([]);
    expect(message.said[0]).toMatch(/^I have read what \*Bo\* wrote\./);
    const news = await turn(NEWS);
    expect(news.calls).toEqual([]);
    expect(news.said[0]).toMatch(
      /^I have seen the updates from the board about \*Pay it\* and \*Two\*\./,
    );
    expect((await turn("[mailbox] 9 messages for you.")).said[0]).toMatch(/^I have read what was/);
  });

  it("introduces itself to the first who speaks to it", async () => {
    const { messages } = await turn(NEWS);
    const { said } = await turn("hello", undefined, { before: messages });
    expect(said[0]?.startsWith(INTRODUCTION)).toBe(true);
  });
});

describe("streaming", () => {
  it("comes word by word, and whole at the end", async () => {
    const events = await collect(demo, request("hello"));
    const { parts, usage } = responseIn(events);
    expect(events.length).toBeGreaterThan(50);
    expect(parts).toMatchObject([{ type: "text", text: streamed(events, "text") }]);
    expect(usage?.outputTokens).toBeGreaterThan(50);
  });

  it("stops when it is aborted in a pause", async () => {
    const abort = new AbortController();
    const events = [];
    const slow = createDemoProvider({ clock: new FakeClock() });
    setImmediate(() => abort.abort());
    for await (const event of slow.stream(request("hello", { signal: abort.signal })))
      events.push(event);
    expect(failureIn(events).code).toBe("model_aborted");
    expect(events).toHaveLength(1);
  });
});
