import { expect, test } from "vitest";
import { entryFromEvent } from "./entry-from-event.ts";
import { sampleEvent } from "./samples.ts";

test("messages carry their text, author and whether they were cut", () => {
  const author = { kind: "user", id: "usr_1", name: "Ada" };
  const content = [
    { type: "text", text: "Hello " },
    { type: "text", text: "you" },
  ];
  const entry = entryFromEvent(
    sampleEvent({
      seq: 4,
      type: "message",
      entryId: "e",
      role: "user",
      content,
      data: { author, partial: true },
    }),
  );
  expect(entry).toMatchObject({
    id: "e",
    seq: 4,
    kind: "prompt",
    text: "Hello you",
    author,
    partial: true,
  });
});

test("tools carry call, result and duration", () => {
  const event = sampleEvent({
    seq: 5,
    type: "post_tool",
    entryId: "e",
    toolName: "bash",
    toolInput: { command: "ls" },
    toolOutput: "a.txt",
    exitCode: 0,
    data: { callId: "c1", durationMs: 12 },
  });
  expect(entryFromEvent(event)).toMatchObject({
    kind: "tool_result",
    tool: {
      name: "bash",
      callId: "c1",
      output: "a.txt",
      exitCode: 0,
      durationMs: 12,
      truncated: false,
    },
  });
});

test("what is not part of the transcript has no entry", () => {
  expect(entryFromEvent(sampleEvent({ seq: 1, type: "run_claimed" }))).toBeUndefined();
  expect(
    entryFromEvent(sampleEvent({ seq: 1, type: "prompt_queued", entryId: "e" })),
  ).toBeUndefined();
});
