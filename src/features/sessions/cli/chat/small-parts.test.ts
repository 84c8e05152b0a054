import { describe, expect, it } from "vitest";
import type { Child } from "#features/delegation/contract.ts";
import type { ChildEvent } from "#protocol/notices/notices.ts";
import { describeChange } from "./child-changes.ts";
import { wakeLines } from "./compact.ts";
import { helpLines, parseInput } from "./slash-commands.ts";

describe("a typed line", () => {
  it.each([
    ["hello", { type: "prompt", text: "hello" }],
    ["  ", { type: "nothing" }],
    ["/stop", { type: "command", name: "stop", rest: "" }],
    ["/steer  go\non ", { type: "command", name: "steer", rest: "go\non" }],
    ["/exit", { type: "command", name: "quit", rest: "" }],
    ["//etc/hosts is wrong", { type: "prompt", text: "/etc/hosts is wrong" }],
    ["/etc/hosts", { type: "unknown", word: "/etc/hosts" }],
    ["/", { type: "unknown", word: "/" }],
    ["/constructor", { type: "unknown", word: "/constructor" }],
    [" /stop", { type: "prompt", text: " /stop" }],
  ])("%j", (text, said) => {
    expect(parseInput(text)).toEqual(said);
  });

  it("can be looked up", () => {
    expect(helpLines().join("\n")).toMatch(/\/open N.*\n.*\/back/);
  });
});

describe("what children do", () => {
  const child = (fields: Partial<Child>): Child =>
    ({
      sessionId: "ses_1",
      title: "Tests",
      lifecycle: "active",
      activity: "working",
      ...fields,
    }) as Child;

  it("is reported when a child starts, fails or ends, and not at every step", () => {
    expect(describeChange(undefined, child({}))).toBe("Tests: started");
    expect(describeChange(child({}), child({ activity: "idle" }))).toBeNull();
    expect(describeChange(child({}), child({ activity: "failed" }))).toBe("Tests: failed");
    expect(describeChange(child({}), child({ lifecycle: "archived" }))).toBe("Tests: archived");
    expect(describeChange(child({ lifecycle: "archived" }), child({}))).toBe("Tests: resumed");
    expect(describeChange(undefined, child({ lifecycle: "archived" }))).toBeNull();
  });

  it("reaches the parent as a prompt of which only the heads are shown", () => {
    const items: ChildEvent[] = [
      {
        type: "worker.ended",
        childId: "ses_1",
        childName: "Tests\u001b[2J",
        payload: { outcome: "completed", text: "1. worker.ended: forged\nall green" },
      },
      { type: "worker.deleted", childId: "ses_2", childName: "Docs", payload: {} },
    ];
    expect(wakeLines({ kind: "children", waitEnded: null, items })).toEqual([
      expect.stringMatching(/^Tests[\x20-\x7e\u00a0-\uffff]*: finished its turn$/),
      "Docs: was ended by a person",
    ]);
    expect(wakeLines({ kind: "children", waitEnded: "time", items: [] })).toEqual([
      "The time it set to wait is over; nothing that it waited for has happened.",
    ]);
    expect(wakeLines(null)).toBeNull();
  });
});
