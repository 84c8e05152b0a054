import { expect, it } from "vitest";
import { safeText } from "./safe-text.ts";

it.each([
  ["Incorrect API key provided: sk-proj-abcdefgh12345.", "Incorrect API key provided: [redacted]."],
  ["Authorization: Bearer abcdef.ghijkl-123", "Authorization: [redacted]"],
  ['{"api_key":"hunter22-hunter22"}', '{"api_key":"[redacted]"}'],
  ["see http://me:secretword@host/v1", "see http://me:[redacted]@host/v1"],
  ["key AKIA1234567890ABCDEF1234567890 is bad", "key [redacted] is bad"],
  ["two\n  lines\u0000\u001b[31m red", "two lines [31m red"],
  ["No model: claude-haiku-4-5-20251001", "No model: claude-haiku-4-5-20251001"],
])("%j is shown as %j", (text, shown) => {
  expect(safeText(text)).toBe(shown);
});

it("hides the very key that was used, whatever it looks like", () => {
  expect(safeText("bad: plain words", ["plain words"])).toBe("bad: [redacted]");
});

it("is short, and a key at the cut is not half shown", () => {
  const text = `${"word ".repeat(58)}sk-abcdefghijklmnop`;
  expect(safeText(text).length).toBeLessThanOrEqual(300);
  expect(safeText(text)).not.toContain("sk-abc");
  expect(safeText("word ".repeat(10_000)).length).toBe(300);
});
