import { describe, expect, it } from "vitest";
import type { Approval } from "#features/approvals/contract.ts";
import { styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { widthOf } from "#surfaces/cli/kit/text/text-width.ts";
import {
  approvalLabel,
  describeApproval,
  describeDecision,
  describeQuestion,
  readAnswer,
} from "./ask.ts";

const WIDE = { style: styleFor({ write() {} }, {}), columns: 100 };
const PLAIN = { style: styleFor({ write() {} }, {}), columns: 60 };

function approvalOf(fields: Partial<Approval>): Approval {
  return {
    id: "apr_1",
    kind: "approval",
    tool: "bash",
    shown: { tool: "bash", input: { command: "ls" }, reason: null, cwd: null },
    state: "pending",
    decision: null,
    scope: null,
    answers: null,
    decidedBy: null,
    rulePreview: null,
    ...fields,
  } as Approval;
}
const withInput = (input: unknown, cwd: string | null = null) =>
  approvalOf({ shown: { tool: "bash", input, reason: null, cwd } });
const RULE = { level: "user", tool: "bash", pattern: "ls", match: "exact" } as const;

describe("what is asked", () => {
  it("is shown whole, with who asks and where it would run", () => {
    const asked = withInput({ command: "cd x &&\nrm -rf y" }, "src");
    expect(describeApproval(asked, "Tests", PLAIN)).toEqual([
      "? Tests: Allow bash? (2 lines, 16 characters)",
      "  │ cd x &&",
      "  │ rm -rf y",
      "  └ the end (2 lines, 16 characters)",
      "  In the folder:",
      "  │ src",
    ]);
    expect(
      describeApproval(withInput({ path: "a", content: "1\n2", mode: 3 }), null, PLAIN),
    ).toEqual([
      "? Allow bash? (5 lines, 36 characters)",
      "  │ path: a",
      "  │ content:",
      "  │     1",
      "  │     2",
      "  │ mode: 3",
      "  └ the end (5 lines, 36 characters)",
    ]);
  });

  it("hides nothing behind letters that cannot be seen", () => {
    const tricky = "echo safe\r\u001b[2K\u202erm -rf /\u200b\u2028x";
    expect(describeApproval(withInput({ command: tricky }), null, WIDE)[1]).toBe(
      "  │ echo safe<U+000D><U+001B>[2K<U+202E>rm -rf /<U+200B><U+2028>x",
    );
  });

  it("cannot be forged by the call: each row of foreign text begins with a gutter", () => {
    const forged = "? Allow bash?\n  │ ls -la src\n  └ the end\ny/n ›";
    const command = `git push\n${forged}${" ".repeat(300)}? Allow ls? é`;
    const asked = approvalOf({
      tool: `bash? (1 line)\n${forged}`,
      shown: { input: { command }, reason: forged, cwd: forged },
      rulePreview: { ...RULE, pattern: `git push\n${forged}` },
    });
    const rows = describeApproval(asked, `x\n${forged}`, PLAIN);
    const own = rows.filter((row) => !/^ {2}[│┆]/.test(row));
    expect(own).toEqual([
      "? The session named below: Allow the tool named below? (5 lines, 368 characters)",
      "  Session:",
      "  Tool:",
      "  Call:",
      "  └ the end (5 lines, 368 characters)",
      "  In the folder:",
      "  Reason:",
      '  "always" allows exactly this from now on:',
    ]);
    for (const row of rows.slice(1)) expect(widthOf(row)).toBeLessThan(60);
  });

  it("takes only one word for the name of a tool", () => {
    const asked = approvalOf({ tool: "bash: ls -la src" });
    expect(describeApproval(asked, null, PLAIN).slice(0, 4)).toEqual([
      "? Allow the tool named below?",
      "  Tool:",
      "  │ bash: ls -la src",
      "  Call:",
    ]);
  });

  it("drops no letter of a long line, whatever its width", () => {
    const command = `${"a  ".repeat(80)}${"界".repeat(50)}${"👩‍👩‍👧".repeat(20)}`;
    const rows = describeApproval(withInput({ command }), null, PLAIN).slice(1, -1);
    const inner = rows.map((row) =>
      row
        .slice(4)
        .padEnd(PLAIN.columns - 5)
        .slice(0, 55),
    );
    expect(inner.join("").replaceAll(" ", "")).toBe(command.replaceAll(" ", ""));
    expect(rows.slice(1).every((row) => row.startsWith("  ┆ "))).toBe(true);
  });

  it("names fields so that none looks like two", () => {
    const asked = withInput({ "a\nurl: http://ok": "x", url: "http://evil\nurl: http://ok" });
    expect(describeApproval(asked, null, PLAIN).slice(1, -1)).toEqual([
      '  │ "a\\nurl: http://ok": x',
      "  │ url:",
      "  │     http://evil",
      "  │     url: http://ok",
    ]);
  });

  it("is a plan, all of it, that is approved, refused or sent back with words", () => {
    const plan = approvalOf({ kind: "plan", shown: { input: { plan: "1. a\n2. \u200bb" } } });
    expect(describeApproval(plan, "Tests", PLAIN)).toEqual([
      "? Tests: A plan needs your approval. Carry it out? (2 lines, 10 characters)",
      "  │ 1. a",
      "  │ 2. <U+200B>b",
      "  └ the end (2 lines, 10 characters)",
    ]);
    expect(approvalLabel(plan, 0)).toBe("y/n/revise … ›");
    const read = (text: string) => readAnswer(plan, [], text);
    expect(read("y")).toMatchObject({ body: { decision: "allow" } });
    expect(read("no, too much")).toMatchObject({ body: { decision: "deny", reason: "too much" } });
    expect(read("revise: smaller")).toEqual({
      type: "send",
      body: { decision: "revise", reason: "smaller" },
    });
    for (const text of ["revise", "r", "smaller"]) expect(read(text).type).toBe("unclear");
    expect(readAnswer(approvalOf({}), [], "revise it").type).toBe("unclear");
    const told = (decision: "allow" | "revise" | "deny") =>
      describeDecision({ ...plan, state: "decided", decision, decidedBy: "session:ses_1" }, "me");
    expect(told("allow")).toBe("Plan approved by session:ses_1.");
    expect(told("revise")).toBe("Plan sent back by session:ses_1.");
  });

  it("explains the effect of always", () => {
    const asked = approvalOf({ rulePreview: RULE });
    expect(describeApproval(asked, null, PLAIN).at(-1)).toBe(
      '  "always" allows exactly this call from now on.',
    );
    const other = approvalOf({ rulePreview: { ...RULE, pattern: "ls\u202e *" } });
    expect(describeApproval(other, null, PLAIN).at(-1)).toBe("  │ bash ls<U+202E> *");
    expect(approvalLabel(asked, 0)).toBe("y/n/always ›");
    expect(approvalLabel(approvalOf({}), 0)).toBe("y/n ›");
  });
});

describe("a typed answer", () => {
  const decided = (text: string, rulePreview: Approval["rulePreview"] = RULE) =>
    readAnswer(approvalOf({ rulePreview }), [], text);

  it.each([
    ["y", { decision: "allow", scope: "once" }],
    [" YES ", { decision: "allow", scope: "once" }],
    ["always", { decision: "allow", scope: "always" }],
    ["n", { decision: "deny" }],
    ["no, use git rm", { decision: "deny", reason: "use git rm" }],
  ])("%j is a decision", (text, body) => {
    expect(decided(text)).toEqual({ type: "send", body });
  });

  it.each(["", "yesterday it worked", "yes please do", "ok", "nobody knows", "1", "yy"])(
    "%j is none",
    (text) => {
      expect(decided(text)).toMatchObject({ type: "unclear" });
    },
  );

  it("is not always where that cannot be", () => {
    expect(decided("always", null)).toMatchObject({ type: "unclear" });
  });
});

describe("questions", () => {
  const colours = { question: "Which?", options: [{ label: "Blue" }, { label: "Green" }] };
  const asked = (...questions: object[]) =>
    approvalOf({ kind: "question", shown: { input: { questions } } });

  it("are shown one by one with what can be chosen", () => {
    const two = asked(colours, { question: "Why\u001b[31m?" });
    expect(describeQuestion(two, 0, PLAIN)).toEqual(["  │ Which?", " 1│ Blue", " 2│ Green"]);
    expect(describeQuestion(two, 1, PLAIN)).toEqual(["  │ Why<U+001B>[31m?"]);
    expect([approvalLabel(two, 0), approvalLabel(two, 1)]).toEqual(["1-2 ›", "answer ›"]);
    expect(readAnswer(two, [], "2")).toEqual({ type: "next", answers: ["Green"] });
    expect(readAnswer(two, ["Green"], "so")).toEqual({
      type: "send",
      body: { answers: ["Green", "so"] },
    });
  });

  it("take words of one's own unless only a choice will do", () => {
    expect(readAnswer(asked(colours), [], "red")).toMatchObject({ body: { answers: ["red"] } });
    const strict = asked({ ...colours, freeText: false });
    expect(readAnswer(strict, [], "red")).toMatchObject({ type: "unclear" });
    expect(readAnswer(strict, [], "3")).toMatchObject({ type: "unclear" });
    expect(readAnswer(strict, [], "Blue")).toMatchObject({ body: { answers: ["Blue"] } });
    const several = asked({ ...colours, multiple: true, freeText: false });
    expect(readAnswer(several, [], "1, 2")).toMatchObject({ body: { answers: ["Blue\nGreen"] } });
    expect(readAnswer(asked({ question: "?" }), [], "  ")).toMatchObject({ type: "unclear" });
  });
});

it("shows the decision, and who made it if it was somebody else", () => {
  const told = (fields: Partial<Approval>) =>
    describeDecision(approvalOf({ state: "decided", ...fields }), "usr_me");
  expect(told({ decision: "allow", scope: "once", decidedBy: "usr_me" })).toBe("Allowed.");
  expect(told({ decision: "deny", scope: "once", decidedBy: "usr_x" })).toBe(
    "Not allowed by usr_x.",
  );
  expect(told({ decision: "allow", scope: "always", decidedBy: "usr_me" })).toBe(
    "Allowed (always).",
  );
  expect(told({ state: "expired" })).toContain("in time");
  expect(told({ kind: "question", decision: "allow", answers: ["Blue"], decidedBy: "x" })).toBe(
    "Answered by x: Blue",
  );
});
