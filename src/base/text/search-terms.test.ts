import { describe, expect, it } from "vitest";
import { fold, wordSegments } from "./search-terms.ts";

describe("folding", () => {
  it.each([
    ["Straße CAFÉ Ёлка", "straße cafe елка"],
    ["Fix THE Login_bug\n", "fix the login_bug\n"],
    ["ＦＵＬＬ ﬁn", "full fin"],
    ["한국어 हिन्दी", "한국어 हिन्दी"],
  ])("%j is %j", (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  it("keeps no more marks on a letter than anybody writes, whose order would take too long", () => {
    // Hebrew points and marks above and below, none of which is an accent.
    const heap = `a${"\u05b0\u0591\u05c1\u1ab0".repeat(8_000)}b`;
    expect([...fold(heap)]).toHaveLength(32);
    expect(fold(`a${"\u05b0".repeat(30)}b`)).toHaveLength(32);
  });
});

describe("pieces", () => {
  it.each([
    ["Tokyo東京2020", ["Tokyo", "東京", "2020"]],
    ["サーバー", ["サーバー"]],
    ["ﾃﾞｰﾀ、データ", ["ﾃﾞｰﾀ", "データ"]],
    ["a+b 😀", ["a", "+", "b", "😀"]],
  ])("of %j are %j", (text, pieces) => {
    expect([...wordSegments(text)].map((piece) => piece.text)).toEqual(pieces);
  });
});
