import { expect, it } from "vitest";
import { rowOf } from "./draft.ts";
import { mailText } from "./letter-text.ts";

const side = { id: "ses_1", ownerId: "usr_1", name: "\u0001".repeat(250) } as const;
const letterOf = (content: string, index: number) =>
  rowOf(
    {
      orgId: "org_1",
      from: { kind: "session", ...side },
      to: { kind: "session", ...side },
      type: "message",
      content,
      contextRef: "\u0001".repeat(500),
      contextTaskId: "\u200b".repeat(200),
      contextSessionId: "\n".repeat(200),
    },
    `ltr_${index}`,
    1,
  );
const told = (content: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    letter: letterOf(content, index),
    relation: "sibling" as const,
  }));

it.each([
  ["one", 1],
  ["twenty", 20],
])("keeps %s of the nastiest letters within what a model can read", (_what, count) => {
  const text = mailText(told("\n".repeat(32_000), count), "own");
  expect(text.length).toBeLessThan(48_000 + count * 2_000 + 1_000);
  for (const { letter } of told("x", count)) expect(text).toContain(letter.id);
});

it("leaves no line of a letter unquoted where it is cut", () => {
  for (const filler of ["\n", "a\n", "ab\n", "😀\n"]) {
    const lines = mailText(told(filler.repeat(16_000), 3), "own").split("\n");
    const ours = lines.filter((line) => line !== "" && !line.startsWith(">"));
    expect(ours).toHaveLength(1 + 3 * 3 + 1);
  }
});
