import { describe, expect, it } from "vitest";
import type { TaskStatus } from "../contract.ts";
import { nextStatus } from "./status.ts";

type Case = [
  from: TaskStatus,
  reason: string | null,
  open: string[],
  wish: { status?: TaskStatus; blockedReason?: string; result?: string },
  then: string,
];

describe("the status of a task", () => {
  it.each<Case>([
    // Cases without a requested status.
    ["pending", null, [], {}, "pending"],
    ["pending", null, ["a"], {}, "blocked"],
    ["blocked", null, ["a"], {}, "blocked"],
    ["blocked", null, [], {}, "pending"],
    ["blocked", "legal", [], {}, "blocked legal"],
    ["in_progress", null, [], {}, "in_progress"],
    ["in_progress", null, ["a"], {}, "blocked"],
    ["completed", null, ["a"], {}, "completed"],
    ["failed", null, ["a"], {}, "failed"],
    // Cases with a requested status.
    ["pending", null, [], { status: "in_progress" }, "in_progress"],
    ["pending", null, [], { status: "completed" }, "completed"],
    ["blocked", null, ["a"], { status: "in_progress" }, "task_blocked"],
    ["blocked", null, ["a"], { status: "completed" }, "task_blocked"],
    ["blocked", null, ["a"], { status: "pending" }, "blocked"],
    ["blocked", null, ["a"], { status: "failed" }, "failed"],
    ["blocked", "legal", [], { status: "in_progress" }, "in_progress"],
    ["blocked", "legal", ["a"], { status: "pending" }, "blocked"],
    ["completed", null, ["a"], { status: "completed" }, "completed"],
    ["completed", null, [], { status: "pending" }, "pending"],
    ["failed", null, [], { status: "in_progress" }, "in_progress"],
    // Cases of a block by hand.
    ["pending", null, [], { status: "blocked" }, "blocked No reason was given."],
    ["pending", null, [], { status: "blocked", result: " " }, "blocked No reason was given."],
    ["pending", null, [], { status: "blocked", result: "needs a key" }, "blocked needs a key"],
    ["pending", null, ["a"], { status: "blocked", result: "needs a key" }, "blocked"],
    ["blocked", "legal", [], { status: "blocked", result: "needs a key" }, "blocked legal"],
    ["pending", null, ["a"], { status: "blocked" }, "blocked"],
    ["pending", null, [], { status: "blocked", blockedReason: "legal" }, "blocked legal"],
    ["blocked", "legal", [], { status: "blocked" }, "blocked legal"],
    ["blocked", "legal", [], { blockedReason: "tax" }, "blocked tax"],
    ["pending", null, [], { blockedReason: "legal" }, "blocked_reason_unused"],
    ["pending", null, [], { status: "completed", blockedReason: "x" }, "blocked_reason_unused"],
  ])("%s (%s), open %j, asked %j: %s", (status, blockedReason, openBlockers, wish, then) => {
    expect(tryNext({ status, blockedReason, openBlockers }, wish)).toBe(then);
  });
});

function tryNext(...args: Parameters<typeof nextStatus>): string {
  try {
    const { status, blockedReason } = nextStatus(...args);
    return blockedReason === null ? status : `${status} ${blockedReason}`;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
