import { describe, expect, it } from "vitest";
import type { EntryRow } from "./entry-queries.ts";
import { textOfEntry } from "./entry-text.ts";

const message = (content: string): EntryRow => ({
  session_id: "ses_1",
  seq: 1,
  entry_id: "ent_1",
  type: "message",
  kind: "text",
  at: 1,
  tool_name: null,
  content,
  tool_input: null,
  tool_output: null,
  error: null,
  redacted_at: null,
});
const parts = JSON.stringify([
  { type: "image", data: "aGVsbG8=" },
  { type: "text", text: 'He said "text":"no"\nand went \\ on' },
  { type: "text", text: "The end, which is long" },
]);

describe("the text of a message", () => {
  it("is what was said in its parts", () => {
    expect(textOfEntry(message(parts))).toBe(
      'He said "text":"no"\nand went \\ on\nThe end, which is long',
    );
  });

  it("is nothing else, though it was cut off", () => {
    expect(textOfEntry(message(parts.slice(0, -8)))).toBe(
      'He said "text":"no" and went \\ on\nThe end, which is',
    );
    const long = JSON.stringify([{ type: "text", text: `a\u0001 "${"b ".repeat(30_000)}` }]);
    expect(textOfEntry(message(long.slice(0, 32_000)))?.slice(0, 8)).toBe('a\u0001 "b b ');
    expect(textOfEntry(message("plain words"))).toBe("plain words");
  });
});
