import { describe, expect, it } from "vitest";
import { chosenTime, fieldTime, snoozeTimes } from "./snooze-times.ts";

const shown = (now: Date) => snoozeTimes(now).map(({ words, at }) => [words, fieldTime(at)]);

describe("when a message comes back", () => {
  it("is offered for today, tomorrow and next week", () => {
    // 2026-03-04 is a Wednesday.
    expect(shown(new Date(2026, 2, 4, 10, 30))).toEqual([
      ["In an hour", "2026-03-04T11:30"],
      ["This evening", "2026-03-04T18:00"],
      ["Tomorrow", "2026-03-05T09:00"],
      ["Next week", "2026-03-09T09:00"],
    ]);
  });

  it("is never this evening late in the day, and never the same time twice", () => {
    // 2026-03-08 is a Sunday, 2026-03-09 a Monday.
    expect(shown(new Date(2026, 2, 8, 17)).map(([words]) => words)).toEqual([
      "In an hour",
      "Tomorrow",
    ]);
    expect(shown(new Date(2026, 2, 9, 17)).at(-1)).toEqual(["Next week", "2026-03-16T09:00"]);
  });

  it("is to come", () => {
    const now = new Date(2026, 2, 4, 10, 30);
    expect(chosenTime("2026-03-04T10:29", now)).toBeUndefined();
    expect(chosenTime("", now)).toBeUndefined();
    expect(chosenTime("2026-03-04T10:31", now)).toEqual(new Date(2026, 2, 4, 10, 31));
  });
});
