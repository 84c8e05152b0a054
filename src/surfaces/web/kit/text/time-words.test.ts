import { expect, test } from "vitest";
import { ago, duration, until } from "./time-words.ts";

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

test("how long until then, and nothing once it has passed", () => {
  const now = Date.parse("2026-03-01T10:00:00.000Z");
  const after = (ms: number) => until(new Date(now + ms).toISOString(), now);
  expect([30_000, 42 * 60_000, 23.6 * 3_600_000, 72 * 3_600_000].map(after)).toEqual([
    "in less than a minute",
    "in 42 min",
    "in 24 h",
    "in 3 days",
  ]);
  expect(after(-1)).toBe("");
  expect(until("nonsense", now)).toBe("");
});
