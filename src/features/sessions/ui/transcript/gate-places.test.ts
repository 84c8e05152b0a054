import { expect, test } from "vitest";
import { placeGates } from "./gate-places.ts";
import { sampleApproval, sampleEntry } from "./samples.ts";

const call = (id: string, seq: number, command: string, promptId = "pmt_1") =>
  sampleEntry({
    id,
    seq,
    kind: "tool_call",
    promptId,
    tool: {
      name: "bash",
      callId: `call_${id}`,
      input: { command },
      output: null,
      error: null,
      exitCode: null,
      durationMs: null,
      truncated: false,
      verdict: null,
    },
  });
const asks = (id: string, command: string, fields = {}) =>
  sampleApproval({ id, shown: { tool: "bash", input: { command }, reason: null }, ...fields });
const placed = (...args: Parameters<typeof placeGates>) => {
  const { byCall, rest } = placeGates(...args);
  return {
    byCall: Object.fromEntries([...byCall].map(([callId, { id }]) => [callId, id])),
    rest: rest.map(({ id }) => id),
  };
};

test("a gate stands at the call of its turn", () => {
  const entries = [call("a", 1, "ls", "pmt_0"), call("a", 2, "ls"), call("b", 3, "ls")];
  expect(placed(entries, [asks("g", "ls", { callId: "call_b" })])).toEqual({
    byCall: { "pmt_1 call_b": "g" },
    rest: [],
  });
});

test("an open gate without its call stands at the end; a closed one is left out", () => {
  const closed = asks("h", "ls", { state: "decided", decision: "allow" });
  expect(placed([], [asks("g", "ls"), closed])).toEqual({ byCall: {}, rest: ["g"] });
});
