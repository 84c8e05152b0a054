import { describe, expect, it } from "vitest";
import type { Child } from "#features/delegation/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { buildTrees, drawTree, treeCost } from "./session-tree.ts";

const style = styleFor({ write() {} }, {});

function session(id: string, fields: Partial<Session> = {}): Session {
  return {
    id,
    title: id.toUpperCase(),
    lifecycle: "active",
    activity: "idle",
    parentSessionId: null,
    isOrchestrator: false,
    branch: null,
    cost: 1_000,
    createdAt: `2026-01-01T00:00:0${id.length}.000Z`,
    ...fields,
  } as Session;
}

const SESSIONS = [
  session("alone"),
  session("lead"),
  session("kid", { parentSessionId: "lead" }),
  session("orch", { isOrchestrator: true, activity: "waiting" }),
  session("c", { parentSessionId: "orch", activity: "working", branch: "fix" }),
  session("cc", { parentSessionId: "c", activity: "needs_you", cost: null }),
  session("d", { parentSessionId: "orch", activity: "failed", title: "D\u001b[2J\nx" }),
  session("orphan", { parentSessionId: "gone" }),
];
const children = new Map([
  ["c", { doing: "does bash: npm test", changedFiles: 3 } as Child],
  ["d", { doing: null, changedFiles: null } as Child],
]);
const facts = { sessions: SESSIONS, children, doing: new Map([["orch", "wait_for_event"]]) };

describe("trees", () => {
  it("begin at orchestrators and all who lead others", () => {
    expect(buildTrees(facts).map(({ id }) => id)).toEqual(["orch", "lead"]);
    expect(buildTrees(facts, "c").map(({ id }) => id)).toEqual(["c"]);
    expect(buildTrees(facts, "alone")).toHaveLength(1);
    expect(buildTrees(facts, "nobody")).toEqual([]);
  });

  it("are drawn with state, cost and what each is doing", () => {
    const [tree] = buildTrees(facts);
    if (!tree) throw new Error("no tree");
    expect(drawTree(tree, { columns: 80, style, isNumbered: true })).toEqual([
      "◌ ORCH  waiting · unpriced · wait_for_event",
      "├ 1 ● C  working · $0.0010 · fix 3 changed · does bash: npm test",
      "│ └ 2 ? CC  needs you · unpriced",
      "└ 3 ✗ D<U+001B>[2J x  failed · $0.0010",
    ]);
    const named = drawTree(tree, { columns: 80, style, hasIds: true });
    expect(named[1]).toMatch(/does bash: npm test {2}c$/);
    for (const line of drawTree(tree, { columns: 20, style, hasIds: true }))
      expect([...line].length).toBeLessThanOrEqual(20);
  });

  it("cost what all their sessions cost, and nothing is free that has no price", () => {
    const [orch, lead] = buildTrees(facts);
    expect(orch && treeCost(orch)).toBeNull();
    expect(lead && treeCost(lead)).toBe(2_000);
  });
});
