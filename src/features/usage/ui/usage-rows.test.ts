import { expect, test } from "vitest";
import type { UsageItem } from "#features/usage/contract.ts";
import { dayBars, firstDay, usageRows } from "./usage-rows.ts";

const NOW = Date.parse("2026-03-10T15:00:00.000Z");
const item = (key: string, inputTokens: number, costMicros: number | null = 0): UsageItem => ({
  key,
  title: null,
  requests: 1,
  inputTokens,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicros,
  unpricedRequests: 0,
  toolCalls: 0,
  turns: 1,
  modelMs: 0,
  toolMs: 0,
});
const keys = (items: readonly UsageItem[]) => items.map(({ key }) => key);

test("days stand newest first, models by cost and then by tokens", () => {
  const days = [item("2026-03-01", 9), item("2026-03-03", 1)];
  expect(keys(usageRows("day", days))).toEqual(["2026-03-03", "2026-03-01"]);
  const models = [item("a", 10), item("b", 1, 5_000), item("c", 20, null)];
  expect(keys(usageRows("model", models))).toEqual(["b", "c", "a"]);
});

test("a period begins so many days ago, today included", () => {
  expect(firstDay("7", NOW)).toBe("2026-03-04");
  expect(firstDay("all", NOW)).toBeUndefined();
});

test("every day has its bar, also an empty one", () => {
  const bars = dayBars([item("2026-03-09", 5)], "2026-03-08", NOW);
  expect(bars.map(({ day, input }) => [day, input])).toEqual([
    ["2026-03-08", 0],
    ["2026-03-09", 5],
    ["2026-03-10", 0],
  ]);
  expect(dayBars([], undefined, NOW)).toHaveLength(1);
  expect(dayBars([item("2020-01-01", 1)], undefined, NOW)).toHaveLength(90);
});
