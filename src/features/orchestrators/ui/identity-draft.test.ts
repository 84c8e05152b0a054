import { describe, expect, it } from "vitest";
import type { Identity } from "#features/orchestrators/contract.ts";
import { changeOf, draftOf, handleProblem } from "./identity-draft.ts";

const AT = "2026-03-01T10:00:00.000Z";
const identity: Identity = {
  id: "usr_1",
  type: "personal",
  userId: "usr_1",
  name: "Ada",
  handle: "ada",
  avatar: "🦉",
  style: "casual",
  customInstructions: null,
  acceptsAgentMail: "none",
  createdAt: AT,
  updatedAt: AT,
};

describe("the draft of an identity", () => {
  it("asks for nothing when nothing is new", () => {
    expect(changeOf(identity, draftOf(identity))).toEqual({});
    expect(changeOf(identity, { ...draftOf(identity), name: " Ada ", handle: "@ada" })).toEqual({});
  });

  it("asks for what is different, and empties what was emptied", () => {
    const draft = { ...draftOf(identity), handle: "@grace", avatar: " ", instructions: "Be kind." };
    expect(changeOf(identity, draft)).toEqual({
      handle: "grace",
      avatar: null,
      customInstructions: "Be kind.",
    });
  });

  it("knows what a handle may look like", () => {
    expect(handleProblem("ada-2")).toBeUndefined();
    for (const bad of ["", "a", "-ada", "a b", "ä".repeat(3), "x".repeat(31)])
      expect(handleProblem(bad)).toMatch(/letters, digits/);
  });
});
