import { expect, test } from "vitest";
import { ago, duration } from "./time-words.ts";

test("durations in words", () => {
  expect([12, 950, 2710, 42_000, 125_000, 7_500_000].map(duration)).toEqual([
    "12 ms",
    "950 ms",
    "2.7 s",
    "42 s",
    "2 min 5 s",
    "2 h 5 min",
  ]);
});

test("how long ago, in one glance", () => {
  const now = Date.parse("2026-03-01T12:00:00.000Z");
  const words = [
    "2026-03-01T11:59:50.000Z",
    "2026-03-01T11:55:00.000Z",
    "2026-03-01T09:00:00.000Z",
    "2026-02-27T12:00:00.000Z",
  ];
  expect(words.map((iso) => ago(iso, now))).toEqual(["now", "5 min", "3 h", "2 d"]);
});
