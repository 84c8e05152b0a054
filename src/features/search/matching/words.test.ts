import { describe, expect, it } from "vitest";
import { NASTY_STRINGS, UNSTORABLE } from "#test/nasty-strings.ts";
import { anyOf, indexText, markOf, termsOf } from "./words.ts";

const wordsOf = (question: string) => termsOf(question).map(({ words }) => words.join(" "));

describe("words", () => {
  it.each([
    ["Fix THE login-bug", " fix the login bug "],
    ["foo_bar(baz) => qux; a+b", " foo bar baz qux a b "],
    ["tests and glass", " test and glass "],
    ["日本", " 日 本 "],
    ["+++", " \ue12b \ue12b \ue12b "],
    ["   ", ""],
  ])("are taken from %j", (text, words) => {
    expect(indexText(text).words).toBe(words);
  });

  it("come with pairs where a script has no spaces", () => {
    expect(indexText("日本語 and 日本").pairs).toEqual(["日本", "本語"]);
  });

  it("have no sign in them that a database could take for its own", () => {
    for (const text of [...NASTY_STRINGS, ...UNSTORABLE]) {
      const { words, pairs } = indexText(text);
      expect(`${words}${pairs.join("")}`, text).toMatch(/^[a-z0-9 \u0080-\u{10ffff}]*$/u);
      for (const { words: queried, keys } of termsOf(text))
        expect([...queried, ...keys].join(""), text).toMatch(/^[a-z0-9\u0080-\u{10ffff}]*$/u);
    }
  });

  it("are never mistaken for a mark", () => {
    const mark = markOf("task", { userId: "usr_1" });
    expect(wordsOf(mark).join(" ")).not.toContain(mark);
    expect(markOf("task", { userId: "usr_A" })).not.toBe(markOf("task", { userId: "usr_a" }));
    expect(markOf("task", { userId: "x" })).not.toBe(markOf("task", { orgId: "x" }));
  });
});

describe("a question", () => {
  it.each([
    ["login bug", ["login", "bug"]],
    ['"login bug" now', ["login bug", "now"]],
    ['say "unclosed quote', ["say", "unclosed", "quote"]],
    ["a AND b OR NOT c*", ["a", "and", "b", "or", "not", "c"]],
    ["title:x NEAR(a b, 5)", ["title", "x", "near", "a", "b", "5"]],
    ["東京都 x", ["東 京 都", "x"]],
    ['"..." word', ["word"]],
  ])("%j is %j", (question, words) => {
    expect(wordsOf(question)).toEqual(words);
  });

  it("is bounded, whatever its length", () => {
    const long = Array.from({ length: 5_000 }, (_, n) => `w${n}`).join(" ");
    expect(termsOf(long).length).toBeLessThanOrEqual(12);
    const together = termsOf(`"${long}"`);
    expect(together.flatMap(({ words, keys }) => [...words, ...keys]).length).toBeLessThan(100);
    expect(termsOf("字".repeat(10_000)).flatMap(({ keys }) => keys).length).toBeLessThan(30);
  });

  it("lets only its last plain word go on", () => {
    const goesOn = (question: string) => termsOf(question).filter((term) => term.isBeginning);
    expect(goesOn("conf depl").map(({ words }) => words)).toEqual([["depl"]]);
    expect(goesOn('depl "conf"')).toEqual([]);
    expect(goesOn("de")).toEqual([]);
  });

  it("falls back to the words that say something", () => {
    const some = anyOf(termsOf("where is the login bug"));
    expect(some?.map(({ words }) => words[0])).toEqual(["login", "bug"]);
    for (const no of ["login", '"login" bug', "the of"]) expect(anyOf(termsOf(no))).toBeUndefined();
  });
});
