import { describe, expect, it } from "vitest";
import { MAX_PLAIN_FRAME_BYTES } from "#protocol/bounds.ts";
import type { JournalItem } from "#protocol/events.ts";
import { fitsFrame, framesOf, isLean, type JournalBatch } from "./journal-batch.ts";

/** A character that takes six bytes in JSON. */
const WIDE = "\u0001";
const message = (text: string): JournalItem => ({
  type: "message",
  entryId: "e",
  kind: "text",
  text,
});

describe("a batch of the journal", () => {
  it("is one frame where it fits", () => {
    const batch: JournalBatch = { firstOrdinal: 3, items: [message("a"), message("b")] };
    expect(framesOf(batch, 10)).toEqual([batch]);
    const much = { ...batch, items: [message("x".repeat(3_500_000))] };
    expect(framesOf(much, 3_500_000)).toEqual([much]);
  });

  it("is cut into frames that the server takes, in order, with its end in the last", () => {
    const text = WIDE.repeat(600_000);
    const batch: JournalBatch = {
      firstOrdinal: 7,
      items: [message(text), message(text)],
      settle: { outcome: "completed", result: WIDE.repeat(3_000_000) },
    };
    const frames = framesOf(batch, 1_200_000);
    expect(frames.map(({ firstOrdinal, items }) => [firstOrdinal, items.length])).toEqual([
      [7, 1],
      [8, 1],
      [9, 0],
    ]);
    expect(frames.map(({ settle }) => settle?.outcome)).toEqual([
      undefined,
      undefined,
      "completed",
    ]);
    for (const frame of frames)
      expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(MAX_PLAIN_FRAME_BYTES);
  });

  it("is cut where the server would write it in several pieces, so that each is stored whole or not", () => {
    const items = Array.from({ length: 120 }, (_none, at) => message(`${at}`));
    const settle = { outcome: "completed" } as const;
    const frames = framesOf({ firstOrdinal: 11, items, settle }, 5_000);
    expect(frames.map((frame) => [frame.firstOrdinal, frame.items.length])).toEqual([
      [11, 50],
      [61, 50],
      [111, 20],
      [131, 0],
    ]);
    expect(frames.flatMap((frame) => frame.items)).toEqual(items);
    expect(frames.map((frame) => frame.settle)).toEqual([undefined, undefined, undefined, settle]);
    const long = message("x".repeat(300_000));
    const few = framesOf({ firstOrdinal: 1, items: [long, long, message("y")] }, 600_100);
    expect(few.map((frame) => frame.items.length)).toEqual([1, 2]);
  });

  it("is cut where all its items together have more values than a frame may", () => {
    const full = message("x");
    const item = { ...full, meta: { list: Array.from({ length: 20_000 }, () => 0) } };
    const frames = framesOf({ firstOrdinal: 1, items: [item, item, item] }, 200_000);
    expect(frames.map(({ items }) => items.length)).toEqual([1, 1, 1]);
  });

  it("cannot hold an item that is nested deeper or fuller than a frame may be", () => {
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const call = (input: unknown): JournalItem => ({
      type: "pre_tool",
      entryId: "e",
      callId: "c",
      tool: "t",
      input,
    });
    expect(isLean(call(deep))).toBe(false);
    expect(isLean(call(Array.from({ length: 60_000 }, () => 0)))).toBe(false);
    expect(isLean(call(Array.from({ length: 10_000 }, () => ({ a: 1 }))))).toBe(true);
  });

  it("cannot hold an item that no frame could", () => {
    expect(fitsFrame(message(WIDE.repeat(3_000_000)), 3_000_000)).toBe(false);
    expect(fitsFrame(message("x".repeat(3_500_000)), 3_500_000)).toBe(true);
  });
});
