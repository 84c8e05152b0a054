import { expect, test } from "vitest";
import { countWords, moneyWords, plural, priceWords, sizeWords } from "./money-words.ts";

test("money has as many digits as it needs, and what is unknown is not nothing", () => {
  expect(moneyWords(null)).toBe("cost unknown");
  expect(moneyWords(0)).toBe("$0");
  expect(moneyWords(40)).toBe("< $0.0001");
  expect(moneyWords(4_200)).toBe("$0.0042");
  expect(moneyWords(1_234_567)).toBe("$1.23");
  expect(moneyWords(2_500_000_000)).toBe("$2,500");
});

test("a price is for a million tokens each way", () => {
  expect(priceWords(null)).toBe("price unknown");
  expect(priceWords({ inputMicros: 0, outputMicros: 0 })).toBe("free");
  expect(priceWords({ inputMicros: 3_000_000, outputMicros: 15_000_000 })).toBe("$3 in, $15 out");
  expect(priceWords({ inputMicros: 250_000, outputMicros: 50_000 })).toBe("$0.25 in, $0.050 out");
});

test("counts and sizes are short", () => {
  expect([0, 999, 1_000, 1_540, 12_345, 999_600, 2_000_000].map(countWords)).toEqual([
    "0",
    "999",
    "1k",
    "1.5k",
    "12k",
    "1M",
    "2M",
  ]);
  expect([12, 1_500, 48_000_000].map(sizeWords)).toEqual(["12 bytes", "1.5 kB", "48 MB"]);
  expect(plural(1, "line")).toBe("1 line");
  expect(plural(1200, "line")).toBe("1,200 lines");
});
