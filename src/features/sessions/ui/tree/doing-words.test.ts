import { expect, test } from "vitest";
import { doingWords } from "./doing-words.ts";

const child = { doing: "does bash: npm test", changedFiles: 3 };

test("a question comes before what was done last", () => {
  const asked = { kind: "approval", tool: "bash", target: "npm test" } as const;
  expect(doingWords({ activity: "needs_you" }, child, asked)).toBe("wants to run bash: npm test");
  expect(doingWords({ activity: "needs_you" }, child, { ...asked, target: null })).toBe(
    "wants to run bash",
  );
  expect(doingWords({ activity: "needs_you" }, child, { ...asked, kind: "question" })).toBe(
    "has a question for you",
  );
  expect(doingWords({ activity: "working" }, child, asked)).toBe("does bash: npm test");
});

test("says why it changes nothing yet", () => {
  const held = { ...child, planState: "required" } as const;
  expect(doingWords({ activity: "working" }, held, undefined)).toBe(
    "planning · does bash: npm test",
  );
  expect(doingWords({ activity: "working" }, { ...held, planState: "approved" }, undefined)).toBe(
    "does bash: npm test",
  );
});

test("what is done shows how much it changed, and its last words", () => {
  expect(doingWords({ activity: "idle" }, { ...child, doing: "All green." }, undefined)).toBe(
    "3 changed · All green.",
  );
  expect(doingWords({ activity: "idle" }, { doing: null, changedFiles: 0 }, undefined)).toBeNull();
  expect(doingWords({ activity: "waiting" }, child, undefined)).toBeNull();
  expect(doingWords({ activity: "working" }, undefined, undefined)).toBeNull();
});
