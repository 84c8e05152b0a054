import { expect, it } from "vitest";
import type { NoticeMessage } from "#protocol/notices/notices.ts";
import { noticeText } from "./message-text.ts";

const messageOf = (text: string, index: number): NoticeMessage => ({
  id: `msg_${index}`,
  type: "message",
  from: { kind: "session", id: "ses_1", name: "\u0001".repeat(250), handle: null },
  relation: "sibling",
  replyToId: null,
  about: {
    sessionId: "\n".repeat(200),
    taskId: "\u200b".repeat(200),
    ref: "\u0001".repeat(500),
  },
  text,
});
const noticeOf = (content: string, count: number) => {
  const items = Array.from({ length: count }, (_, index) => messageOf(content, index));
  return { kind: "messages", from: "own", isGuest: false, toHandle: null, items } as const;
};

it.each([
  ["one", 1],
  ["twenty", 20],
])("keeps %s of the nastiest messages within what a model can read", (_what, count) => {
  const text = noticeText(noticeOf("\n".repeat(32_000), count));
  expect(text.length).toBeLessThan(48_000 + count * 2_000 + 1_000);
  for (const { id } of noticeOf("x", count).items) expect(text).toContain(id);
});

it("leaves no line of a message unquoted where it is cut", () => {
  for (const filler of ["\n", "a\n", "ab\n", "😀\n"]) {
    const lines = noticeText(noticeOf(filler.repeat(16_000), 3)).split("\n");
    const ours = lines.filter((line) => line !== "" && !line.startsWith(">"));
    expect(ours).toHaveLength(1 + 3 * 3 + 1);
  }
});
