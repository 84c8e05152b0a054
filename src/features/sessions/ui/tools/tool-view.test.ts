import { expect, test } from "vitest";
import type { ToolUse } from "../transcript/entry-from-event.ts";
import { changeOf, headline, stateOf, type ToolRowData } from "./tool-view.ts";

const use = (name: string, input: unknown, fields: Partial<ToolUse> = {}): ToolUse => ({
  name,
  callId: "c",
  input,
  output: null,
  error: null,
  exitCode: null,
  durationMs: null,
  truncated: false,
  verdict: null,
  ...fields,
});
const row = (fields: Partial<ToolRowData>, of: Partial<ToolUse> = {}): ToolRowData => ({
  type: "tool",
  key: "k",
  use: use("bash", {}, of),
  phase: "done",
  isRefused: false,
  at: null,
  ...fields,
});

test("a call in one line says what matters about it", () => {
  const lines = [
    use("bash", { command: "ls\n  -la" }),
    use("read", { path: "a.ts", offset: 10, limit: 5 }),
    use("grep", { pattern: "x+", path: "src" }),
    use("web_fetch", { url: "https://example.org/a?b=1" }),
    use("web_fetch", { url: "https://user@evil.example/" }),
    use("todo", {
      items: [
        { text: "a", state: "done" },
        { text: "b", state: "pending" },
      ],
    }),
    use("processes", { action: "kill", id: "p1" }),
  ].map(headline);
  expect(lines).toEqual([
    "ls -la",
    "a.ts:10–14",
    "x+ in src",
    "example.org /a?b=1",
    "evil.example",
    "1 of 2 done",
    "kill p1",
  ]);
});

test("how a call went is one word", () => {
  expect(stateOf(row({ phase: "waiting" }))).toBe("waiting");
  expect(stateOf(row({ isRefused: true }, { error: "no" }))).toBe("denied");
  expect(stateOf(row({}, { error: "interrupted, outcome unknown" }))).toBe("interrupted");
  expect(stateOf(row({}, { exitCode: 2 }))).toBe("failed");
  expect(stateOf(row({}))).toBe("done");
});

test("edits and writes are diffs, anything else is none", () => {
  const edits = [
    { oldText: "a", newText: "b" },
    { oldText: "c", newText: "" },
  ];
  expect(changeOf(use("edit", { path: "x", edits }))?.map(({ kind }) => kind)).toEqual([
    "del",
    "add",
    "hunk",
    "del",
  ]);
  expect(changeOf(use("write", { path: "x", content: "1\n2\n" }))).toHaveLength(2);
  expect(changeOf(use("bash", { command: "ls" }))).toBeUndefined();
  expect(changeOf(use("edit", "not yet whole"))).toBeUndefined();
});
