import { expect, test } from "vitest";
import type { Delta } from "#protocol/events.ts";
import { sampleEvent } from "../transcript/samples.ts";
import { applyDelta, type Drafts, NO_DRAFTS, settleDrafts } from "./drafts.ts";

const delta = (offset: number, text: string, entryId = "ent_1"): Delta => ({
  entryId,
  thread: "main",
  kind: "text",
  offset,
  text,
});
const after = (...deltas: Delta[]): Drafts => deltas.reduce(applyDelta, NO_DRAFTS);
const texts = (drafts: Drafts) => drafts.map((draft) => draft.text);

test("appends what continues exactly where the text ends", () => {
  expect(texts(after(delta(0, "Hel"), delta(3, "lo"), delta(5, " you")))).toEqual(["Hello you"]);
});

test("counts in UTF-16 code units, as the server does", () => {
  expect(texts(after(delta(0, "👋"), delta(2, "!")))).toEqual(["👋!"]);
});

test("ignores repeats and what lies beyond a hole, and waits", () => {
  expect(texts(after(delta(0, "Hello"), delta(3, "lo"), delta(9, "?")))).toEqual(["Hello"]);
  expect(texts(after(delta(4, "late")))).toEqual([]);
});

test("offset 0 starts over", () => {
  expect(texts(after(delta(0, "Hel"), delta(0, "Hello"), delta(5, "!")))).toEqual(["Hello!"]);
});

test("keeps several entries apart, in order of appearance", () => {
  const drafts = after(
    delta(0, "a"),
    delta(0, "x", "ent_2"),
    delta(1, "b"),
    delta(1, "y", "ent_2"),
  );
  expect(texts(drafts)).toEqual(["ab", "xy"]);
});

test("the finished entry replaces its draft and leaves the others", () => {
  const drafts = after(delta(0, "a"), delta(0, "x", "ent_2"));
  const done = sampleEvent({ seq: 5, type: "message", entryId: "ent_1" });
  expect(texts(settleDrafts(drafts, done))).toEqual(["x"]);
});

test("a tool's result ends what the tool has shown so far, and no text", () => {
  const shown = { ...delta(0, "npm test…", "ent_3"), kind: "tool_call" as const };
  const drafts = after(delta(0, "a"), shown);
  const result = sampleEvent({ seq: 5, type: "post_tool", entryId: "ent_9" });
  expect(texts(settleDrafts(drafts, result))).toEqual(["a"]);
});

test("a run that ended leaves no draft in its thread", () => {
  const drafts = after(delta(0, "a"));
  expect(settleDrafts(drafts, sampleEvent({ seq: 6, type: "run_lost" }))).toEqual([]);
  expect(settleDrafts(drafts, sampleEvent({ seq: 6, type: "run_parked" }))).toEqual([]);
  expect(settleDrafts(drafts, sampleEvent({ seq: 6, type: "run_lost", thread: "other" }))).toBe(
    drafts,
  );
});
