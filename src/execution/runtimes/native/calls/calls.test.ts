import { describe, expect, it } from "vitest";
import { INTERRUPTED } from "#protocol/events.ts";
import type { Decision } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import type { PreTool } from "../conversation/conversation.ts";
import { type Call, nextStep, resumeFrom } from "./calls.ts";

const pre = (callId: string, verdict: Verdict): PreTool & { verdict: Verdict } => ({
  type: "pre_tool",
  entryId: `ent_${callId}`,
  callId,
  tool: "bash",
  input: { command: "ls" },
  step: 1,
  verdict,
});
const call = (verdict: Verdict): Call => ({ item: pre("c1", verdict), verdict });
const allow = (sandboxed?: boolean): Verdict => ({ verdict: "allow", reason: null, sandboxed });
const ask = (sandboxed?: boolean): Verdict => ({ verdict: "ask", reason: "r", sandboxed });
const yes = (fresh: boolean): Decision => ({
  callId: "c1",
  allowed: true,
  reason: null,
  answers: null,
  fresh,
});
const inSandbox = { isSandboxed: true, notBegun: new Set<string>() };
const without = { isSandboxed: false, notBegun: new Set<string>() };

describe("a command on a machine whose sandbox is not what it was judged for", () => {
  const again = { do: "answer", error: expect.stringContaining("Make the call again") };

  it("is not run without a sandbox when it was allowed for one", () => {
    expect(nextStep(call(allow(true)), undefined, without)).toMatchObject(again);
    expect(nextStep(call(ask(true)), yes(true), without)).toMatchObject(again);
    expect(nextStep(call(ask(true)), undefined, without)).toMatchObject(again);
  });

  it("is run where it was judged for, and in a sandbox in any case", () => {
    expect(nextStep(call(allow(true)), undefined, inSandbox)).toEqual({ do: "perform" });
    expect(nextStep(call(allow(false)), undefined, inSandbox)).toEqual({ do: "perform" });
    expect(nextStep(call(allow(false)), undefined, without)).toEqual({ do: "perform" });
    expect(nextStep(call(ask(false)), yes(true), without)).toEqual({ do: "perform" });
  });
});

describe("a call that a paused attempt has not begun", () => {
  const notBegun = new Set(["c1"]);

  it("may be performed by the attempt that received the decision", () => {
    expect(resumeFrom([pre("c1", allow(true))], notBegun).interrupted).toEqual([]);
    expect(nextStep(call(ask(true)), yes(false), { ...inSandbox, notBegun })).toEqual({
      do: "perform",
    });
  });

  it("is answered as interrupted in any later attempt", () => {
    expect(resumeFrom([pre("c1", allow(true))]).interrupted).toHaveLength(1);
    expect(nextStep(call(ask(true)), yes(false), inSandbox)).toMatchObject({ error: INTERRUPTED });
  });
});
