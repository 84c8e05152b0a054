import { describe, expect, it } from "vitest";
import type { SessionEvent } from "#protocol/events.ts";
import { TurnPrinter } from "./turn-printer.ts";

const EMPTY: SessionEvent = {
  seq: 1,
  type: "message",
  v: 1,
  at: "2026-01-01T00:00:00.000Z",
  sessionId: "ses_1",
  thread: "main",
  promptId: "pmt_1",
  runId: "run_1",
  entryId: null,
  kind: null,
  role: null,
  content: null,
  toolName: null,
  toolInput: null,
  toolOutput: null,
  error: null,
  exitCode: null,
  reason: null,
  data: null,
};

function print(...events: Partial<SessionEvent>[]): { stdout: string; stderr: string } {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text;
      return true;
    },
  });
  const host = { stdout: output("stdout"), stderr: output("stderr"), env: {} };
  const printer = new TurnPrinter(host as unknown as ConstructorParameters<typeof TurnPrinter>[0]);
  for (const event of events) printer.event({ ...EMPTY, ...event });
  return written;
}

const text = (words: string) => [{ type: "text", text: words }];
const own: Partial<SessionEvent> = {
  type: "message",
  entryId: "ent_2",
  kind: "text",
  role: "assistant",
  content: text("That is all."),
};
const forwarded: Partial<SessionEvent> = {
  type: "notice",
  entryId: "ent_1",
  kind: "notice",
  role: "system",
  reason: "forwarded",
  content: text("A report\n  of two lines \u001b[31m"),
  data: { author: { kind: "session", id: "ses_2", name: "counter" } },
};
const call = (type: "pre_tool" | "post_tool", fields: Partial<SessionEvent> = {}) => ({
  type,
  entryId: `ent_${type}`,
  toolName: "complete_session",
  toolInput: type === "pre_tool" ? { summary: "There are\n7 files." } : {},
  data: { callId: "call_1" },
  ...fields,
});

describe("what a turn says, on standard output", () => {
  it("has what was forwarded, word for word and without commands to the terminal", () => {
    const { stdout, stderr } = print(forwarded, own);
    expect(stdout).toContain("A report\n  of two lines");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/two lines .*\nThat is all\.\n$/s);
    expect(stderr).toContain("counter");
    expect(stderr).not.toContain("A report");
  });

  it("has the result that the agent gave, once it was taken", () => {
    const { stdout, stderr } = print(call("pre_tool"), call("post_tool"));
    expect(stdout).toBe("There are\n7 files.\n");
    expect(stderr).toContain("complete_session");
  });

  it("does not have a result that was refused", () => {
    const refused = call("post_tool", { error: "A person did not allow it." });
    expect(print(call("pre_tool"), refused).stdout).toBe("");
  });

  it("leaves other notices on standard error", () => {
    const { stdout, stderr } = print({ type: "notice", content: text("The answer was cut off.") });
    expect(stdout).toBe("");
    expect(stderr).toContain("The answer was cut off.");
  });
});
