import { describe, expect, it } from "vitest";
import type { Row } from "../transcript/rows.ts";
import { redactableAs } from "./redactable.ts";

const text = (fields: object) =>
  ({ type: "text", key: "ent_1", text: "Hello", isWriting: false, ...fields }) as Row;
const tool = (fields: object, use: object = {}) =>
  ({
    type: "tool",
    key: "ent_2",
    phase: "done",
    use: { name: "bash", input: { command: "env" }, output: "KEY=1", error: null, ...use },
    ...fields,
  }) as Row;

describe("words that can be removed", () => {
  it("are those of people, agents and tools, once they are written", () => {
    expect(redactableAs(text({}))).toBe("this answer");
    expect(redactableAs(text({ isWriting: true }))).toBeNull();
    expect(redactableAs(text({ type: "reasoning" }))).toBe("this reasoning");
    expect(redactableAs({ type: "prompt", key: "p", entry: { text: "hi" } } as Row)).toBe(
      "this prompt",
    );
    expect(redactableAs(tool({}))).toBe("this call to bash");
    expect(redactableAs(tool({ phase: "cut" }))).toBe("this call to bash");
    for (const phase of ["writing", "running", "waiting"])
      expect(redactableAs(tool({ phase }))).toBeNull();
  });

  it("are not those that were removed, nor what the page itself says", () => {
    expect(redactableAs(text({ text: "[removed]" }))).toBeNull();
    expect(redactableAs(tool({}, { input: null, output: null }))).toBeNull();
    expect(redactableAs({ type: "day", key: "d", at: "" })).toBeNull();
    expect(redactableAs({ type: "notice", key: "n", text: "Opened", at: "" })).toBeNull();
  });
});
