import { describe, expect, it } from "vitest";
import type { Child, Family } from "#features/delegation/contract.ts";
import { hasChildren, stateWords } from "./family-words.ts";

function family(...activities: string[]): Family {
  const items = activities.map((activity) => ({ activity }) as Child);
  return { items, more: 0, treeCost: 0 };
}

describe("what a session with children is doing", () => {
  it.each([
    ["waiting", family("working", "idle"), "Waiting for 1 child"],
    ["waiting", family("working", "needs_you"), "Waiting for 2 children, 1 needs you"],
    ["waiting", family("needs_you", "needs_you"), "Waiting for 2 children, 2 need you"],
    ["waiting", family("idle"), "Waiting for its children"],
    ["waiting", undefined, undefined],
    ["needs_you", undefined, "Waiting for you"],
    ["working", family("working"), undefined],
  ] as const)("%s", (activity, of, words) => {
    expect(stateWords(activity, of)).toBe(words);
  });

  it("has children also when none of them is listed", () => {
    expect(hasChildren(family())).toBe(false);
    expect(hasChildren({ ...family(), more: 3 })).toBe(true);
  });
});
