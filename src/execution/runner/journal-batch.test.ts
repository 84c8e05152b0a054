import { describe, expect, it } from "vitest";
import { MAX_RUNNER_FRAME_BYTES } from "#protocol/bounds.ts";
import type { JournalItem } from "#protocol/events.ts";
import { fitsFrame, framesOf, type JournalBatch } from "./journal-batch.ts";

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
    const much = { ...batch, items: [message("x".repeat(9_000_000))] };
    expect(framesOf(much, 9_000_000)).toEqual([much]);
  });

  it("is cut into frames that the server takes, in order, with its end in the last", () => {
    const text = WIDE.repeat(1_500_000);
    const batch: JournalBatch = {
      firstOrdinal: 7,
      items: [message(text), message(text)],
      settle: { outcome: "completed", result: WIDE.repeat(3_000_000) },
    };
    const frames = framesOf(batch, 3_000_000);
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
      expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(MAX_RUNNER_FRAME_BYTES);
  });

  it("cannot hold an item that no frame could", () => {
    expect(fitsFrame(message(WIDE.repeat(3_000_000)), 3_000_000)).toBe(false);
    expect(fitsFrame(message("x".repeat(5_000_000)), 5_000_000)).toBe(true);
  });
});
