import { expect, it } from "vitest";
import { dollarsText, readBudget } from "./budget-text.ts";

it.each([
  ["", null],
  ["  ", null],
  ["2.50", 2_500_000],
  ["$2,5", 2_500_000],
  ["0", 0],
  ["-1", undefined],
  ["much", undefined],
  ["1e9", undefined],
])("reads %j as %j", (text, micros) => {
  expect(readBudget(text)).toBe(micros);
});

it("shows what it reads", () => {
  expect(dollarsText(null)).toBe("");
  expect(readBudget(dollarsText(2_500_000))).toBe(2_500_000);
});
