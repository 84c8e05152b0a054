import { describe, expect, it } from "vitest";
import type { Child, ChildrenOverview } from "#features/delegation/contract.ts";
import type { SessionWaitKind } from "#protocol/sessions.ts";
import { hasChildren, listedState, stateWords } from "./children-words.ts";

function childrenOf(...activities: string[]): ChildrenOverview {
  const items = activities.map((activity) => ({ activity }) as Child);
  return { items, more: 0, treeCost: 0 };
}

const waitingFor = (kind: SessionWaitKind) => ({ kind, message: "", until: null });

describe("what a session is doing", () => {
  it.each([
    [childrenOf("working", "idle"), "Waiting for 1 agent"],
    [childrenOf("working", "needs_you"), "Waiting for 2 agents, 1 needs you"],
    [childrenOf("needs_you", "needs_you"), "Waiting for 2 agents, 2 need you"],
    [childrenOf("idle"), "Waiting for agents"],
    [undefined, "Waiting for agents"],
  ] as const)("waits for children", (of, words) => {
    const session = { activity: "waiting", waitingFor: waitingFor("children") } as const;
    expect(stateWords(session, of)).toBe(words);
  });

  it.each([
    ["runner", "Waiting for a runner"],
    ["quota", "Waiting for model quota"],
    ["machine", "Waiting for its machine"],
    ["time", "Waiting until a set time"],
    ["budget", "Waiting for budget"],
  ] as const)("waits for %s, and not for children, though it has some", (kind, words) => {
    const session = { activity: "waiting", waitingFor: waitingFor(kind) } as const;
    expect(stateWords(session, childrenOf("working"))).toBe(words);
  });

  it("leaves the rest to the activity", () => {
    const plan = { activity: "needs_you", waitingFor: waitingFor("plan") } as const;
    expect(stateWords(plan, undefined)).toBe("Waiting for plan approval");
    const asks = { activity: "needs_you", waitingFor: null } as const;
    expect(stateWords(asks, undefined)).toBe("Waiting for your answer");
    const works = { activity: "working", waitingFor: null } as const;
    expect(stateWords(works, childrenOf("working"))).toBeUndefined();
  });

  it("says in a list what it waits for, and that it needs you", () => {
    const waits = { activity: "waiting", waitingFor: waitingFor("machine") } as const;
    expect(listedState(waits)).toBe("Waiting for its machine");
    expect(listedState({ activity: "needs_you", waitingFor: null })).toBe("Needs you");
    expect(listedState({ activity: "done", waitingFor: null })).toBe("Done");
  });

  it("has children also when none of them is listed", () => {
    expect(hasChildren(childrenOf())).toBe(false);
    expect(hasChildren({ ...childrenOf(), more: 3 })).toBe(true);
  });
});
