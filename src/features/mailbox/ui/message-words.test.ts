import { describe, expect, it } from "vitest";
import {
  bodyOf,
  decisionWords,
  eventWords,
  failedPromptOf,
  fateWords,
  gateOf,
  lineOf,
  partyName,
} from "./message-words.ts";
import { message, SESSION } from "./samples.ts";

describe("a message in words", () => {
  it("leaves out the name that stands above it already, of the platform's messages only", () => {
    const content = "Otters is done.\n\n**All** of\nthem.";
    const done = message({ eventType: "session.completed", content });
    expect(bodyOf(done)).toBe("**All** of\nthem.");
    expect(lineOf(done)).toBe("Done: All of them.");
    expect(bodyOf(message({ content }))).toBe(content);
    expect(bodyOf({ ...done, from: { ...SESSION, name: "Renamed" } })).toBe(content);
  });

  it("takes the event from its type, never from the text", () => {
    const content = "Otters\n\nIt presents a plan:\n\nFirst";
    const approval = message({ eventType: "session.approval", content });
    expect(eventWords(approval)).toBe("requests approval");
    expect(bodyOf(approval)).toBe("It presents a plan:\n\nFirst");
    expect(eventWords(message({ content }))).toBeNull();
  });

  it("says how a question was decided instead of asking on", () => {
    const content = "Otters\n\nIt asks to be allowed bash: ls";
    const asked = message({ eventType: "session.approval", messageType: "approval", content });
    expect(decisionWords(asked)).toBeNull();
    const decided = { ...asked, decision: "denied" as const };
    expect(decisionWords(decided)).toBe("Not allowed");
    expect(eventWords(decided)).toBe("requested approval");
    expect(lineOf(decided)).toMatch(/^Not allowed: /);
  });

  it("finds the prompt to send again in the platform's messages only", () => {
    const contextRef = "prompt:pmt_1";
    expect(failedPromptOf(message({ eventType: "session.failed", contextRef }))).toBe("pmt_1");
    expect(failedPromptOf(message({ eventType: "session.failed" }))).toBeNull();
    expect(failedPromptOf(message({ contextRef }))).toBeNull();
  });

  it("says the end alone when nothing was said with it", () => {
    const failed = message({ eventType: "session.failed", content: "Otters failed." });
    expect(bodyOf(failed)).toBe("");
    expect(lineOf(failed)).toBe("Failed");
  });

  it("shows what is not seen, and never more than a line", () => {
    expect(lineOf(message({ content: "a\u202eb" }))).toBe("a⟨U+202E⟩b");
    expect(lineOf(message({ content: "x".repeat(5_000) })).length).toBeLessThanOrEqual(240);
    const marks = "# Head\n> said `a_b > 1` to <b>all</b>";
    expect(lineOf(message({ content: marks }))).toBe("Head said a_b > 1 to <b>all</b>");
    expect(partyName({ ...SESSION, name: "  " })).toBe("ses_1");
  });

  it.each([
    ["delivered", null, "Delivered"],
    ["waiting", null, "Waiting until Otters reads it"],
    ["failed", null, "Not delivered"],
    ["failed", "recipient_ended", "Not delivered: the session has ended"],
    ["failed", "something_new", "Not delivered: something new"],
  ] as const)("says of %s, %s: %s", (fate, fateReason, words) => {
    expect(fateWords(message({ fate, fateReason, to: SESSION }))).toBe(words);
  });

  it("believes only the platform that something waits to be decided", () => {
    const contextRef = "approval:apr_1";
    expect(gateOf(message({ eventType: "session.question", contextRef }))).toBe("apr_1");
    expect(gateOf(message({ eventType: "session.approval", contextRef }))).toBe("apr_1");
    expect(gateOf(message({ messageType: "approval", contextRef }))).toBeNull();
    expect(gateOf(message({ eventType: "session.completed", contextRef }))).toBeNull();
    expect(gateOf(message({ eventType: "session.question", contextRef: "github:a" }))).toBeNull();
  });
});
