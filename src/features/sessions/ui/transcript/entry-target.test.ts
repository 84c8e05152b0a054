import { describe, expect, it } from "vitest";
import { NO_DRAFTS } from "../composer/drafts.ts";
import { entrySeqIn, rowOfEntry } from "./entry-target.ts";
import { buildRows } from "./rows.ts";
import { sampleEntry } from "./samples.ts";

describe("an entry that an address names", () => {
  it("is read from it", () => {
    expect(entrySeqIn("entry-27")).toBe(27);
    expect(entrySeqIn("#entry-27")).toBe(27);
    for (const hash of ["", "entry-", "entry--1", "entry-1x", "other"])
      expect(entrySeqIn(hash)).toBeUndefined();
  });

  it("is at its own row; a tool's result at the row of its call", () => {
    const tool = {
      name: "bash",
      callId: "call_1",
      input: {},
      output: null,
      error: null,
      exitCode: null,
      durationMs: null,
      truncated: false,
      verdict: null,
    };
    const entries = [
      sampleEntry({ id: "a", seq: 3 }),
      sampleEntry({ id: "b", seq: 5, kind: "tool_call", tool }),
      sampleEntry({ id: "c", seq: 6, kind: "tool_result", tool: { ...tool, output: "done" } }),
      sampleEntry({ id: "d", seq: 9 }),
    ];
    const rows = buildRows({ entries, drafts: NO_DRAFTS, isWorking: false });
    expect([3, 5, 6, 9, 100].map((seq) => rowOfEntry(rows, entries, seq))).toEqual([
      ...["a", "b", "b", "d", "d"],
    ]);
    expect(rowOfEntry(rows, entries, 1)).toBeUndefined();
  });
});
