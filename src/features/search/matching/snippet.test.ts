import { describe, expect, it } from "vitest";
import { NASTY_STRINGS } from "#test/nasty-strings.ts";
import { markWhole, snippetOf } from "./snippet.ts";
import { termsOf } from "./words.ts";

const shown = (text: string, question: string) => {
  const snippet = snippetOf(text, termsOf(question));
  return snippet.matches.map(([from, upTo]) => snippet.text.slice(from, upTo));
};

describe("a snippet", () => {
  it("is a short text as it is", () => {
    expect(snippetOf("Feed the otter", termsOf("otter"))).toEqual({
      text: "Feed the otter",
      matches: [[9, 14]],
    });
    expect(snippetOf("", termsOf("otter"))).toEqual({ text: "", matches: [] });
  });

  it.each([
    ["Les Étés à Liège", "etes liege", ["Étés", "Liège"]],
    ["Otters and other animals", "otter anim", ["Otters", "animals"]],
    ["日本語のテスト、日本", "日本", ["日本", "日本"]],
    ["한국어 공부", "국어", ["국어"]],
    ["😀 smile 😀", "😀", ["😀", "😀"]],
    ["no such word", "missing", []],
  ])("of %j marks %j", (text, question, words) => {
    expect(shown(text, question)).toEqual(words);
  });

  it("is cut where most of the words stand, and never inside a letter", () => {
    const text = `otter ${"😀".repeat(400)} otter eats fish ${"😀".repeat(400)}`;
    const { text: part } = snippetOf(text, termsOf("otter fish"));
    expect(part).toContain("otter eats fish");
    expect(part.isWellFormed()).toBe(true);
    expect(part).not.toContain("\ufffd");
    expect(part.length).toBeLessThan(300);
  });

  it("has its marks in order and inside it, for any text", () => {
    for (const text of NASTY_STRINGS) {
      const long = `${text} `.repeat(20);
      const terms = termsOf(text);
      for (const { text: part, matches } of [snippetOf(long, terms), markWhole(text, terms)]) {
        let last = 0;
        for (const [from, upTo] of matches) {
          expect(from).toBeGreaterThanOrEqual(last);
          expect(upTo).toBeGreaterThan(from);
          last = upTo;
        }
        expect(last).toBeLessThanOrEqual(part.length);
        expect(part.isWellFormed()).toBe(true);
      }
    }
  });
});
