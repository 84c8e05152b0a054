import { describe, expect, it } from "vitest";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { ME, message } from "../samples.ts";
import {
  changeThread,
  type MessagePages,
  sendersOf,
  threadsOf,
  undoing,
} from "./message-threads.ts";

function pagesOf(...pages: MailMessage[][]): MessagePages {
  return { pages: pages.map((items) => ({ items, next: null })), pageParams: [] };
}

describe("exchanges of messages", () => {
  const a3 = message({ id: "a3", threadId: "a1" });
  const b1 = message({ id: "b1", threadId: "b1", read: true });
  const a2 = message({ id: "a2", threadId: "a1", read: true });
  const a1 = message({ id: "a1", threadId: "a1" });

  it("stand where their newest message does, over all pages, each message once", () => {
    const threads = threadsOf(pagesOf([a3, b1], [a3, a2, a1]));
    expect(
      threads.map(({ id, newest, messages, unread }) => [id, newest.id, messages.length, unread]),
    ).toEqual([
      ["a1", "a3", 3, 2],
      ["b1", "b1", 1, 0],
    ]);
    expect(threadsOf(undefined)).toEqual([]);
  });

  it("are changed and taken out by themselves", () => {
    const pages = pagesOf([a3, b1], [a2, a1]);
    const read = changeThread(pages, "a1", (one) => ({ ...one, read: true }));
    expect(threadsOf(read).map(({ unread }) => unread)).toEqual([0, 0]);
    const gone = changeThread(pages, "a1", () => undefined);
    expect(threadsOf(gone).map(({ id }) => id)).toEqual(["b1"]);
    expect(threadsOf(pages)).toHaveLength(2);
  });

  it("name who wrote, once and in order", () => {
    const fromMe = message({ id: "m", from: ME });
    expect(
      sendersOf([pagesOf([a3, fromMe]), undefined, pagesOf([b1])]).map(({ id }) => id),
    ).toEqual(["usr_me", "ses_1"]);
  });
});

it("what was put off or away can be brought back", () => {
  expect(undoing({ archived: true })).toEqual({ archived: false });
  expect(undoing({ archived: false })).toEqual({ archived: true });
  expect(undoing({ snoozedUntil: "2026-03-01T09:00:00.000Z" })).toEqual({ snoozedUntil: null });
  expect(undoing({ snoozedUntil: null })).toBeUndefined();
  expect(undoing({ read: false })).toBeUndefined();
});
