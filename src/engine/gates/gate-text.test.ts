import { expect, it } from "vitest";
import { gateText } from "./gate-text.ts";

const asked = (target: string | null, shown: unknown = { input: {}, reason: null }) =>
  gateText({ kind: "approval", tool: "bash", target, shown: JSON.stringify(shown) });

it("spells out what cannot be seen, also in questions and plans", () => {
  expect(asked("git push\u202e\u3164")).toBe("Wants to run bash: git push<U+202E><U+3164>");
  const questions = [{ question: "Which\u200b?", options: [{ label: "a\u00a0b" }] }];
  const question = { kind: "question", tool: "ask_user_question", target: null } as const;
  expect(gateText({ ...question, shown: JSON.stringify({ input: { questions } }) })).toBe(
    "Which<U+200B>?\n- a<U+00A0>b",
  );
  const plan = { kind: "plan", tool: "request_plan_approval", target: null } as const;
  expect(gateText({ ...plan, shown: JSON.stringify({ input: { plan: "1.\u2066" } }) })).toContain(
    "1.<U+2066>",
  );
});

it("quotes several lines, so that none passes for one of ours", () => {
  expect(asked("git push\nWants to run bash: ls")).toBe(
    "Wants to run bash:\n\n> git push\n> Wants to run bash: ls",
  );
});

it("says how much it leaves out", () => {
  expect(asked("x".repeat(5_000))).toContain("(3,019 more characters are shown in the approval.)");
});
