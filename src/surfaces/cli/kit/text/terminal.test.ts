import { describe, expect, it } from "vitest";
import { formatTable, shorten } from "./terminal.ts";
import { widthOf } from "./text-width.ts";

describe("a table", () => {
  it("keeps its columns in line when letters are wide or combined", () => {
    const lines = formatTable(
      ["TITLE", "BY"],
      [
        ["日本語", "Ann"],
        ["cafe\u0301 👍🏽", "Bob"],
        ["plain", "Cy"],
      ],
    );
    const starts = ["BY", "Ann", "Bob", "Cy"].map((last, row) =>
      widthOf(lines[row]?.slice(0, -last.length) ?? ""),
    );
    expect(starts).toEqual([9, 9, 9, 9]);
  });
});

describe("shortening", () => {
  it.each([
    ["plain", 5, "plain"],
    ["plainer", 5, "plai…"],
    ["日本語", 5, "日本…"],
    ["anything", 0, "a…"],
  ])("%j to %i columns", (text, columns, shown) => {
    expect(shorten(text, columns)).toBe(shown);
  });

  it("bounds letters with any number of marks", () => {
    expect([...shorten(`a${"\u0301".repeat(1_000)}`, 10)]).toHaveLength(10);
  });
});
