import { describe, expect, it } from "vitest";
import { type CallEvent, judgeCommand, judgePullRequest } from "./find-evidence.ts";

let seq = 0;
interface Call {
  call: string;
  tool?: string;
  command?: string;
  background?: boolean;
  cwd?: string;
  verdict?: string;
  thread?: string;
}
const base = ({ call, tool = "bash", command, background, thread = "main" }: Call) => ({
  seq: ++seq,
  at: seq,
  thread,
  prompt_id: "pmt_1",
  run_id: "run_1",
  tool_name: tool,
  tool_input: JSON.stringify({ command, ...(background ? { background } : {}) }),
  tool_output: null,
  error: null,
  exit_code: null,
  data: JSON.stringify({ callId: call }),
});
const asks = (call: Call): CallEvent => ({
  ...base(call),
  type: "pre_tool",
  data: JSON.stringify({
    callId: call.call,
    verdict: { verdict: call.verdict ?? "allow" },
    ...(call.cwd ? { cwd: call.cwd } : {}),
  }),
});
const ends = (call: Call, exit: number | null = 0): CallEvent => ({
  ...base(call),
  type: "post_tool",
  exit_code: exit,
  tool_output: '"ok"',
});
const both = (call: Call, exit?: number | null) => [asks(call), ends(call, exit)];
const test = (call: string): Call => ({ call, command: "npm test" });
const other = (call: string, more: Partial<Call> = {}): Call => ({
  call,
  command: "npm i",
  ...more,
});
const judge = (events: CallEvent[], expectExitCode?: number) =>
  judgeCommand([...events].reverse(), { command: "npm test", expectExitCode }).state;

describe("the evidence for a command", () => {
  it.each<[string, string, () => CallEvent[], number?]>([
    ["nothing at all", "never", () => []],
    ["another command", "never", () => both(other("a"))],
    ["the command", "passed", () => both(test("a"))],
    ["as part of another", "never", () => both({ call: "a", command: "npm test || true" })],
    ["in the background", "never", () => both({ ...test("a"), background: true })],
    ["begun and never ended", "never", () => [asks(test("a"))]],
    ["a wrong exit code", "wrong_exit", () => both(test("a"), 1)],
    ["no exit code: it was interrupted", "wrong_exit", () => both(test("a"), null)],
    ["the exit code that was asked for", "passed", () => both(test("a"), 3), 3],
    ["0 when another was asked for", "wrong_exit", () => both(test("a")), 3],
    ["in a folder", "elsewhere", () => both({ ...test("a"), cwd: "/w/x" })],
    ["after other work", "passed", () => [...both(other("a")), ...both(test("b"))]],
    ["before other work", "changed_since", () => [...both(test("a")), ...both(other("b"))]],
    [
      "before an edit",
      "changed_since",
      () => [...both(test("a")), ...both({ call: "b", tool: "edit" })],
    ],
    [
      "before work that has only begun",
      "changed_since",
      () => [...both(test("a")), asks(other("b"))],
    ],
    [
      "before work that was refused",
      "passed",
      () => [...both(test("a")), asks(other("b", { verdict: "deny" }))],
    ],
    [
      "in one step after other work",
      "passed",
      () => [asks(other("a")), asks(test("b")), ends(other("a")), ends(test("b"))],
    ],
    [
      "in one step before other work",
      "changed_since",
      () => [asks(test("a")), asks(other("b")), ends(test("a")), ends(other("b"))],
    ],
    [
      "while another thread worked",
      "changed_since",
      () => [
        asks(other("a", { thread: "side" })),
        asks(test("b")),
        ends(other("a", { thread: "side" })),
        ends(test("b")),
      ],
    ],
    ["again, and failed", "wrong_exit", () => [...both(test("a")), ...both(test("b"), 1)]],
    ["again, and passed", "passed", () => [...both(test("a"), 1), ...both(test("b"))]],
  ])("%s: %s", (_name, state, events, expectExitCode) => {
    expect(judge(events(), expectExitCode)).toBe(state);
  });
});

describe("the evidence for a pull request", () => {
  it.each([
    ["Pushed muster/x at 0123456789. Opened pull request #7 into main: https://h/7", "passed"],
    ["x is already there, at 01. Opened draft pull request #7 into main: https://h/7", "passed"],
    ["x is already there, at 01. Pull request #7 is already open for this branch", "passed"],
    ["Pushed x at 01. There is no pull request: this repository is plain git", "wrong_exit"],
    ["", "wrong_exit"],
  ])("%s: %s", (output, state) => {
    const call = { call: "a", tool: "create_pull_request" };
    const event = { ...ends(call, null), tool_output: JSON.stringify(output) };
    expect(judgePullRequest([event]).state).toBe(state);
    expect(judgePullRequest([{ ...event, error: "no" }]).state).toBe("wrong_exit");
  });

  it("is missing when nobody tried", () => {
    expect(judgePullRequest([asks({ call: "a", tool: "create_pull_request" })]).state).toBe(
      "never",
    );
  });
});
