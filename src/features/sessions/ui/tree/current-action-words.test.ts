import { expect, test } from "vitest";
import { currentActionWords } from "./current-action-words.ts";

const child = { doing: "does bash: npm test", changedFiles: 3 };

test("a question comes before what was done last", () => {
  const asked = { kind: "approval", tool: "bash", target: "npm test" } as const;
  expect(currentActionWords({ activity: "needs_you" }, child, asked)).toBe(
    "wants to run bash: npm test",
  );
  expect(currentActionWords({ activity: "needs_you" }, child, { ...asked, target: null })).toBe(
    "wants to run bash",
  );
  expect(currentActionWords({ activity: "needs_you" }, child, { ...asked, kind: "question" })).toBe(
    "has a question for you",
  );
  expect(currentActionWords({ activity: "working" }, child, asked)).toBe("does bash: npm test");
});

test("says why it changes nothing yet", () => {
  const held = { ...child, planState: "required" } as const;
  expect(currentActionWords({ activity: "working" }, held, undefined)).toBe(
    "planning · does bash: npm test",
  );
  expect(
    currentActionWords({ activity: "working" }, { ...held, planState: "approved" }, undefined),
  ).toBe("does bash: npm test");
});

test("what is done shows how much it changed, and its last words", () => {
  expect(
    currentActionWords({ activity: "idle" }, { ...child, doing: "All green." }, undefined),
  ).toBe("3 changed · All green.");
  expect(
    currentActionWords({ activity: "idle" }, { doing: null, changedFiles: 0 }, undefined),
  ).toBeNull();
  expect(currentActionWords({ activity: "waiting" }, child, undefined)).toBeNull();
  expect(currentActionWords({ activity: "working" }, undefined, undefined)).toBeNull();
});
