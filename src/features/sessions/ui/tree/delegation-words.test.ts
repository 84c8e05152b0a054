import { describe, expect, it } from "vitest";
import type { ToolUse } from "../transcript/entry-from-event.ts";
import { delegationWords } from "./delegation-words.ts";

function use(name: string, input: unknown, output: unknown = null): ToolUse {
  const nothing = { error: null, exitCode: null, durationMs: null, verdict: null };
  return { name, callId: "call_1", input, output, truncated: false, ...nothing };
}

describe("a call that leads others, in words", () => {
  it("says who was started, and where it is once it is there", () => {
    const input = { title: "Research: otters", prompt: "Find out" };
    expect(delegationWords(use("spawn_session", input), "running")).toEqual({
      verb: "Starting",
      title: "Research: otters",
      sessionId: null,
    });
    const done = use("spawn_session", input, '{"sessionId":"ses_01abc","state":"working"}');
    expect(delegationWords(done, "done")).toMatchObject({
      verb: "Started",
      sessionId: "ses_01abc",
    });
  });

  it("does not take for a session what is none, and leaves other tools alone", () => {
    const odd = use("send_message", { sessionId: "javascript:alert(1)" });
    expect(delegationWords(odd, "done")?.sessionId).toBeNull();
    expect(delegationWords(use("bash", { command: "ls" }), "done")).toBeUndefined();
    expect(delegationWords(use("constructor", {}), "done")).toBeUndefined();
    expect(delegationWords(use("wait_for_event", {}), "done")?.verb).toBe("Waiting for agents");
  });
});
