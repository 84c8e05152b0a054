/** Rows of the usage page, in order. Pure. */
import type { UsageItem } from "#features/usage/contract.ts";

export type UsageBy = "day" | "model" | "session";

export const RANGES = {
  "7": { label: "7 days", days: 7 },
  "30": { label: "30 days", days: 30 },
  "90": { label: "90 days", days: 90 },
  all: { label: "All time", days: null },
} as const;
export type Range = keyof typeof RANGES;

const DAY_MS = 24 * 60 * 60_000;

/** Returns the UTC day, as the server counts days. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function firstDay(range: Range, now: number): string | undefined {
  const { days } = RANGES[range];
  return days === null ? undefined : dayOf(now - (days - 1) * DAY_MS);
}

/** Sorts days newest first, anything else by usage. */
export function usageRows(by: UsageBy, items: readonly UsageItem[]): UsageItem[] {
  return [...items].sort((a, b) =>
    by === "day" ? b.key.localeCompare(a.key) : usageOf(b) - usageOf(a),
  );
}

function usageOf({ costMicros, inputTokens, outputTokens }: UsageItem): number {
  return (costMicros ?? 0) * 1000 + inputTokens + outputTokens;
}

export interface DayBar {
  day: string;
  input: number;
  output: number;
  item: UsageItem | undefined;
}

const MAX_BARS = 90;

/** Lists every day from the first to today, including days without usage. */
export function dayBars(
  items: readonly UsageItem[],
  from: string | undefined,
  now: number,
): DayBar[] {
  const byDay = new Map(items.map((item) => [item.key, item]));
  const oldest = from ?? [...byDay.keys()].sort()[0] ?? dayOf(now);
  const count = Math.round((Date.parse(dayOf(now)) - Date.parse(oldest)) / DAY_MS) + 1;
  const shown = Math.max(1, Math.min(count, MAX_BARS));
  return Array.from({ length: shown }, (_, at) => {
    const day = dayOf(now - (shown - 1 - at) * DAY_MS);
    const item = byDay.get(day);
    return { day, input: item?.inputTokens ?? 0, output: item?.outputTokens ?? 0, item };
  });
}
