import { describe, expect, it } from "vitest";
import { ownSequence } from "./guarded-output.ts";
import { shortenTo, widthOf, wrapLine } from "./text-width.ts";

const DIM = ownSequence("[2m");
const NOT_DIM = ownSequence("[22m");
const RESET = ownSequence("[0m");

describe("the width of text", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["日本", 4],
    ["e\u0301a", 2],
    ["👍🏽!", 3],
    ["❤️", 2],
    ["👩‍👩‍👧", 2],
    [`${DIM}dim${NOT_DIM}`, 3],
    ["…›·●", 4],
    ["☎ ✔ ↔", 5],
    ["1️⃣🇩🇪", 4],
    [`e${"\u0301".repeat(1_000)}`, 1],
  ])("%j is %i columns", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it("is kept to by what is shortened, whatever the letters", () => {
    expect(shortenTo("plain", 5)).toBe("plain");
    expect(shortenTo("plainer", 5)).toBe("plai…");
    expect(shortenTo("日本語", 4)).toBe("日…");
    expect(shortenTo("anything", 1)).toBe("…");
    expect(shortenTo("anything", 0)).toBe("");
  });
});

describe("wrapping", () => {
  it.each([
    ["one two three", 8, ["one two", "three"]],
    ["one two three", 7, ["one two", "three"]],
    ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["日本語日本語", 5, ["日本", "語日", "本語"]],
    ["  in the middle", 8, ["  in the", "  middle"]],
    ["", 5, [""]],
    ["a b", 1, ["a", "b"]],
  ])("%j at %i", (line, columns, rows) => {
    expect(wrapLine(line, columns)).toEqual(rows);
  });

  it("closes a colour at the end of a row and opens it again in the next", () => {
    expect(wrapLine(`${DIM}one two${NOT_DIM} six`, 4)).toEqual([
      `${DIM}one${RESET}`,
      `${DIM}two${NOT_DIM}`,
      "six",
    ]);
  });

  it("never changes a row that is done when more is said", () => {
    const text = "The quick brown fox jumps over the lazy dog, again and again and againandagain.";
    let pending = "";
    const done: string[] = [];
    for (const letter of text) {
      const rows = wrapLine(pending + letter, 11);
      pending = rows.pop() ?? "";
      done.push(...rows);
    }
    expect([...done, pending]).toEqual(wrapLine(text, 11));
  });
});
