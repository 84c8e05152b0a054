import { expect, test } from "vitest";
import type { Entry } from "#protocol/sessions.ts";
import { sampleEntry, sampleEvent } from "./samples.ts";
import {
  addToTail,
  lastSeq,
  mergeEntries,
  NO_TAIL,
  olderThan,
  TRANSCRIPT_PAGE,
} from "./transcript-cache.ts";

const pagesOf = (...pages: Entry[][]) => ({
  pages: pages.map((items) => ({ items, next: null })),
  pageParams: pages.map(() => undefined),
});
const message = (seq: number, entryId: string, text: string) =>
  sampleEvent({
    seq,
    type: "message",
    entryId,
    kind: "text",
    role: "assistant",
    content: [{ type: "text", text }],
  });
const shown = (entries: Entry[]) => entries.map((entry) => `${entry.seq}:${entry.text}`);

test("history and live entries join without a gap and without a double", () => {
  const pages = pagesOf(
    [sampleEntry({ id: "e3", seq: 3, text: "c" })],
    [sampleEntry({ id: "e1", seq: 1, text: "a" })],
  );
  const tail = addToTail(NO_TAIL, [message(3, "e3", "c"), message(4, "e4", "d")]);
  expect(shown(mergeEntries(pages, tail))).toEqual(["1:a", "3:c", "4:d"]);
  expect(lastSeq(pages, tail)).toBe(4);
});

test("an entry that is written again keeps its place", () => {
  const pages = pagesOf([
    sampleEntry({ id: "e1", seq: 1, text: "half" }),
    sampleEntry({ id: "e2", seq: 2, text: "b" }),
  ]);
  const tail = addToTail(NO_TAIL, [message(5, "e1", "whole")]);
  expect(shown(mergeEntries(pages, tail))).toEqual(["1:whole", "2:b"]);
});

test("a replay changes nothing; events without an entry keep the same tail", () => {
  const once = addToTail(NO_TAIL, [message(1, "e1", "a")]);
  expect(addToTail(once, [message(1, "e1", "a")])).toEqual(once);
  expect(addToTail(once, [sampleEvent({ seq: 2, type: "run_settled" })])).toBe(once);
});

test("a tail older than the pages is left out until history reaches it", () => {
  const tail = addToTail(NO_TAIL, [message(2, "e2", "old")]);
  expect(
    shown(mergeEntries(pagesOf([sampleEntry({ id: "e9", seq: 9, text: "new" })]), tail)),
  ).toEqual(["9:new"]);
  expect(shown(mergeEntries(pagesOf([]), tail))).toEqual(["2:old"]);
});

test("a call and its result stay two entries when they share an id", () => {
  const tool = {
    toolName: "bash",
    toolInput: { command: "ls" },
    data: { callId: "c1" },
    entryId: "e1",
  };
  const tail = addToTail(NO_TAIL, [
    sampleEvent({ seq: 1, type: "pre_tool", ...tool }),
    sampleEvent({ seq: 2, type: "post_tool", ...tool, toolOutput: "a.txt" }),
  ]);
  expect(tail.map((entry) => entry.kind)).toEqual(["tool_call", "tool_result"]);
});

test("older history begins before a full page and nowhere after a short one", () => {
  const items = Array.from({ length: TRANSCRIPT_PAGE }, (_, index) =>
    sampleEntry({ id: `e${index}`, seq: index + 7 }),
  );
  expect(olderThan({ items, next: null })).toBe(7);
  expect(olderThan({ items: items.slice(1), next: null })).toBeUndefined();
});

test("a session without history shows everything that comes live", () => {
  const tail = addToTail(NO_TAIL, [message(5, "e1", "a"), message(9, "e2", "b")]);
  expect(shown(mergeEntries(pagesOf([]), tail))).toEqual(["5:a", "9:b"]);
  expect(shown(mergeEntries(undefined, tail))).toEqual(["5:a", "9:b"]);
});
