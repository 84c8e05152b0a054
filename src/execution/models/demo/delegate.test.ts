/** The story of an orchestrator: two tasks, one after the other, and what came of them. */
import { describe, expect, it } from "vitest";
import { collect, request, responseIn } from "../fake-request.ts";
import type { AssistantPart, ModelMessage } from "../model.ts";
import { createDemoProvider } from "./demo-provider.ts";

const demo = createDemoProvider({ delayMs: 0 });
const offer = (name: string) => ({ name, description: name, inputSchema: {} });
const LEADS = ["spawn_session", "wait_for_event", "write", "bash"].map(offer);
const WORKS = ["write", "bash"].map(offer);
const ASK = "Let two agents research otters and make a page about them";

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const news = (said: string, type = "worker.ended", outcome = " (completed)") =>
  `[orchestration] 1 event from your child sessions.\n\n1. ${type}: "Research" (ses_1) ended its turn${outcome}.\n> ${said}`;

interface Played {
  said: string;
  calls: { tool: string; input: Record<string, string> }[];
}

/** One turn: every call succeeds, and waiting ends it. */
async function turn(messages: ModelMessage[], text: string, tools = LEADS): Promise<Played> {
  messages.push(user(text));
  const played: Played = { said: "", calls: [] };
  for (let step = 0; step < 8; step++) {
    const events = await collect(demo, request("", { messages: [...messages], tools }));
    const content = responseIn(events).parts.map((part): AssistantPart => {
      if (part.type !== "tool_call") return part;
      const { callId, tool, inputText } = part;
      return { type: "tool_call", callId, tool, input: JSON.parse(inputText) as unknown };
    });
    messages.push({ role: "assistant", content });
    const calls = content.filter((part) => part.type === "tool_call");
    for (const part of content) if (part.type === "text") played.said += part.text;
    if (calls.length === 0) return played;
    played.calls.push(...(calls as unknown as Played["calls"]));
    messages.push({
      role: "tool",
      content: calls.map(({ callId, tool }) => ({
        callId,
        tool,
        content: [{ type: "text", text: '{"sessionId":"ses_1"}' }],
        isError: false,
      })),
    });
    if (calls.some(({ tool }) => tool === "wait_for_event")) return played;
  }
  throw new Error("the demo does not come to an end");
}

describe("the demo's orchestrator", () => {
  it("gives out two tasks, the second with what the first found, and tells what both said", async () => {
    const messages: ModelMessage[] = [];
    const first = await turn(messages, ASK);
    expect(first.calls.map(({ tool }) => tool)).toEqual(["spawn_session", "wait_for_event"]);
    expect(first.calls[0]?.input).toMatchObject({ title: "Research: otters" });
    const second = await turn(messages, news("Otters have dense fur."));
    expect(second.calls[0]?.input).toMatchObject({ title: "Page: otters" });
    expect(second.calls[0]?.input.prompt).toContain("Otters have dense fur.");
    const last = await turn(messages, news("index.html is made."));
    expect(last.calls).toEqual([]);
    expect(last.said).toContain("Otters have dense fur.");
    expect(last.said).toContain("index.html is made.");
    // And once more from the start.
    expect((await turn(messages, ASK)).calls).toHaveLength(2);
  });

  it("says so when a child does not come to its end, and passes a question on", async () => {
    const messages: ModelMessage[] = [];
    await turn(messages, ASK);
    const failed = await turn([...messages], news("no model", "worker.ended", " (failed)"));
    expect(failed.calls).toEqual([]);
    expect(failed.said).toContain("no model");
    const asked = await turn([...messages], news("red or blue?", "worker.ask_user", ""));
    expect(asked.said).toContain("answer it there");
  });

  it("answers news of what it never asked for in words alone", async () => {
    expect((await turn([], news("hello"))).calls).toEqual([]);
  });

  it("as a child collects the facts and makes the page of them", async () => {
    const messages: ModelMessage[] = [];
    const { calls } = await turn(messages, ASK);
    const research = await turn([], calls[0]?.input.prompt ?? "", WORKS);
    expect(research.calls[0]).toMatchObject({ tool: "write", input: { path: "facts.md" } });
    expect(research.said).toContain("kelp");
    const { calls: next } = await turn(messages, news(research.said));
    const page = await turn([], next[0]?.input.prompt ?? "", WORKS);
    expect(page.calls[0]).toMatchObject({ tool: "write", input: { path: "index.html" } });
    expect(page.calls[0]?.input.content).toContain("<h1>Otters</h1>");
  });
});
