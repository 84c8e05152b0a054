import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.ts";

describe("cursors", () => {
  it("lead back to their place", () => {
    expect(decodeCursor("a", encodeCursor("a", { at: 12, id: "x" }))).toEqual({ at: 12, id: "x" });
    expect(decodeCursor("a", undefined)).toBeUndefined();
    const half = encodeCursor("a", { at: 0.5, id: "x" });
    expect(decodeCursor("a", half, { isFraction: true })).toEqual({ at: 0.5, id: "x" });
  });

  it.each([
    ["another list's", encodeCursor("b", { at: 1, id: "x" })],
    ["half an instant", encodeCursor("a", { at: 0.5, id: "x" })],
    ["beyond all instants", encodeCursor("a", { at: 1e300, id: "x" })],
    ["an id with NUL", encodeCursor("a", { at: 1, id: "x\u0000" })],
    ["an id that is half a character", encodeCursor("a", { at: 1, id: "\ud800" })],
    ["an id without end", encodeCursor("a", { at: 1, id: "x".repeat(201) })],
    ["no cursor at all", "%%%"],
    ["no list", Buffer.from("{}").toString("base64url")],
  ])("are refused: %s", (_name, cursor) => {
    expect(() => decodeCursor("a", cursor)).toThrow("does not belong to this list");
  });
});
