import { describe, expect, it } from "vitest";
import { DROP_ROOM, droppedAtMost, nextRoom, thatFit } from "./drop-room.ts";

describe("the room for what leaves the index", () => {
  it("grows while transactions are short, and shrinks at the first that is not", () => {
    let room = DROP_ROOM;
    for (let n = 0; n < 50; n++) room = nextRoom(room, 0.3);
    expect(room).toBe(40_000);
    expect(droppedAtMost(room)).toBe(100);
    expect(nextRoom(room, 1.5)).toBe(room);
    expect(nextRoom(room, 9)).toBe(20_000);
    for (let n = 0; n < 50; n++) room = nextRoom(room, 50);
    expect(room).toBe(DROP_ROOM);
  });

  it("takes one document of any length, however little room there is", () => {
    const long = { title: "", body: "x".repeat(100_000) };
    expect(thatFit([long, long], DROP_ROOM)).toHaveLength(1);
  });
});
