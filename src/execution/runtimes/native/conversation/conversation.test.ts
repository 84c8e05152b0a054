import { describe, expect, it } from "vitest";
import type { ModelMessage } from "#execution/models/model.ts";
import { Conversation, type PostTool } from "./conversation.ts";
import { sizeOf } from "./entry-text.ts";

const image = (sha256: string) => ({ sha256, mediaType: "image/png" });
const attached = (sha256: string) => ({ ...image(sha256), name: `${sha256}.png`, size: 1 });
const call = { entryId: "e", callId: "c1", tool: "read", step: 1 };
const shot = (...names: string[]): PostTool => ({
  type: "post_tool",
  ...call,
  input: {},
  output: "seen",
  error: null,
  images: names.map(image),
});

/** A conversation with images by name, of so many characters each. */
function conversing(chars: Record<string, number>) {
  const fetched: string[] = [];
  let open = 0;
  let most = 0;
  const conversation = new Conversation(async (sha256) => {
    fetched.push(sha256);
    most = Math.max(most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    const length = chars[sha256];
    return length === undefined
      ? null
      : { mediaType: "image/png", data: sha256.padEnd(length, "=") };
  });
  return { conversation, fetched, atOnce: () => most };
}

const shown = (messages: readonly ModelMessage[]) =>
  messages
    .flatMap((message) =>
      message.role === "tool"
        ? message.content.flatMap(({ content }) => content)
        : message.role === "user"
          ? message.content
          : [],
    )
    .flatMap((part) => (part.type === "image" ? [part.data.slice(0, 1)] : []));

describe("the images of a conversation", () => {
  it("are the newest that fit; the others are told of and never fetched", async () => {
    const { conversation, fetched } = conversing({ a: 3e6, b: 3e6, c: 3e6, d: 4e6 });
    await conversation.addPrompt({ text: "one", attachments: [attached("a")] });
    conversation.add({ type: "message", ...call, kind: "text", text: "ok" });
    await conversation.addPrompt({ text: "two", attachments: [attached("b"), attached("c")] });
    await conversation.prepare();
    expect(shown(conversation.messages)).toEqual(["b", "c"]);
    conversation.add({ type: "pre_tool", ...call, input: {} });
    conversation.add(shot("d"));
    await conversation.prepare();
    expect(shown(conversation.messages)).toEqual(["c", "d"]);
    expect(JSON.stringify(conversation.messages)).toContain("[an image that was shown earlier]");
    expect(fetched.toSorted()).toEqual(["a", "b", "c", "d"]);
  });

  it("are not fetched once nothing more fits", async () => {
    const { conversation, fetched } = conversing({ a: 10, b: 5e6, c: 5e6 });
    for (const name of ["a", "b", "c"]) {
      await conversation.addPrompt({ text: name, attachments: [attached(name)] });
      conversation.add({ type: "message", ...call, kind: "text", text: "ok" });
    }
    await conversation.prepare();
    expect(shown(conversation.messages)).toEqual(["c"]);
    expect(fetched).toEqual(["c", "b"]);
  });

  it("of one message are fetched side by side; one that is gone or too large is told of", async () => {
    const { conversation, atOnce } = conversing({ a: 10, c: 9e6 });
    await conversation.addPrompt({ text: "x", attachments: ["a", "b", "c"].map(attached) });
    await conversation.prepare();
    expect(atOnce()).toBe(3);
    expect(shown(conversation.messages)).toEqual(["a"]);
    const text = JSON.stringify(conversation.messages);
    expect(text).toContain("no longer kept");
    expect(text).toContain("too large to be shown");
  });

  it("go from older messages when the model cannot read so much", async () => {
    const { conversation } = conversing({ a: 1000, b: 1000, c: 1000 });
    await conversation.addPrompt({ text: "x", attachments: [attached("a")] });
    for (let step = 1; step <= 3; step++) {
      conversation.add({ type: "pre_tool", ...call, step, input: {} });
      conversation.add({ ...shot(...(step === 2 ? ["b"] : [])), step });
    }
    await conversation.addPrompt({ text: "y", attachments: [attached("c")] });
    await conversation.prepare();
    expect(shown(conversation.messages)).toEqual(["a", "b", "c"]);
    expect(conversation.shrink()).toBe(true);
    expect(shown(conversation.messages)).toEqual(["b", "c"]);
    expect(conversation.shrink()).toBe(true);
    expect(shown(conversation.messages)).toEqual(["c"]);
    expect(conversation.shrink()).toBe(false);
  });

  it("count as something to be read", () => {
    const author = { kind: "user" as const, id: "u", name: "Ada" };
    const prompt = (attachments: ReturnType<typeof attached>[]) =>
      sizeOf({ type: "prompt", text: "x", author, attachments });
    expect(prompt([attached("a")])).toBeGreaterThan(prompt([]) + 1000);
    expect(sizeOf(shot("a"))).toBeGreaterThan(sizeOf(shot()) + 1000);
  });
});

describe("a note in the middle of a turn", () => {
  it("stands behind the result of a call that was open, which is not lost", async () => {
    const { conversation } = conversing({});
    await conversation.addPrompt({ text: "go", attachments: [] });
    conversation.add({ type: "pre_tool", ...call, input: {} });
    conversation.add({ type: "notice", entryId: "n", text: "moved", forModel: true });
    conversation.add(shot());
    await conversation.prepare();
    expect(conversation.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
    expect(JSON.stringify(conversation.messages[2])).toContain("seen");
    expect(JSON.stringify(conversation.messages[3])).toContain("moved");
  });
});
