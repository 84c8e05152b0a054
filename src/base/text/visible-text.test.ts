import { describe, expect, it } from "vitest";
import { reveal, spellOut, terminalJson, terminalText } from "./visible-text.ts";

const codeOf = (code: number) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

describe("text that somebody decides about", () => {
  it.each([
    0x00, 0x08, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680,
    0x17b4, 0x180b, 0x180e, 0x2003, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,
    0x202e, 0x202f, 0x205f, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xd800,
    0xe000, 0xfe00, 0xfe0e, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffc, 0xffff, 0x13441, 0x1d159,
    0x1d173, 0xe0001, 0xe0041, 0xe0101, 0xf0000, 0x10ffff,
  ])("names %i, which cannot be seen", (code) => {
    expect(spellOut(`ls${String.fromCodePoint(code)}x`)).toBe(`ls<${codeOf(code)}>x`);
  });

  it("stays as it is in every script", () => {
    for (const text of [
      "",
      "ls -la\n\tcat x | grep 'é'",
      "日本語 ελληνικά Tiếng Việt ไทย မြန်မာ",
      "שָׁלוֹם עולם، مرحبا بالعالم",
      "می‌خواهم",
      "क्‍ष",
      "👋🏽 👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🏳️‍🌈 🇩🇪",
    ])
      expect(spellOut(text)).toBe(text);
  });

  it("names joiners, selectors and tags that are not part of an emoji or a word", () => {
    expect(spellOut("r\ufe0fm\u200d x")).toBe("r<U+FE0F>m<U+200D> x");
    expect(spellOut("👩\u200d\u200d👧")).toBe("👩<U+200D><U+200D>👧");
    expect(spellOut("🏴\u{e0041}")).toBe("🏴<U+E0041>");
    expect(spellOut("a\u200cb")).toBe("a<U+200C>b");
  });

  it("names marks that stack over other rows, or that stand on nothing", () => {
    expect(spellOut(`a${"\u0301".repeat(8)}`)).toBe(`a${"\u0301".repeat(6)}<U+0301><U+0301>`);
    expect(spellOut("\u0338x")).toBe("<U+0338>x");
    expect(spellOut("a\n\u20ddb")).toBe("a\n<U+20DD>b");
  });

  it("shows the name that DNS is asked for behind a host that looks like another", () => {
    expect(spellOut("curl https://аpple.com/x")).toBe("curl https://аpple.com<xn--pple-43d.com>/x");
    expect(spellOut("git clone git@githսb.com:a/b")).toContain("githսb.com<xn--gith");
    expect(spellOut("ssh аррӏе.com")).toContain("<xn--");
    expect(spellOut("see ｇithub.com")).toBe("see ｇithub.com<github.com>");
    expect(spellOut("https://github。evil.com/")).toContain("<github.evil.com>");
    for (const text of ["cat résumé.txt", "open 日本.txt", "vim отчёт.docx", "https://a.b/é.txt"])
      expect(spellOut(text)).toBe(text);
  });

  it("gives the pieces to a page, with names people know", () => {
    expect(reveal("a\u001b[2K")).toEqual([
      { text: "a" },
      { name: "ESC", code: "U+001B" },
      { text: "[2K" },
    ]);
  });

  it("takes time in proportion to the text", () => {
    const long = `${"a".repeat(500_000)}é${"\u0301".repeat(200_000)}${"//".repeat(100_000)}${"é.".repeat(50_000)}`;
    expect(spellOut(long).length).toBeGreaterThan(long.length);
  });
});

describe("text for a terminal", () => {
  it("commands nothing", () => {
    expect(terminalText("a\u001b]52;c;eA==\u0007b\u009b2Jc\u202ed\rX\r\ny\tz\u2028\ud800")).toBe(
      "a<U+001B>]52;c;eA==<U+0007>b<U+009B>2Jc<U+202E>d<U+000D>X\ny\tz<U+2028><U+D800>",
    );
  });

  it("keeps every script and emoji", () => {
    const text = "שלום مرحبا 👩‍👩‍👧 می‌خواهم";
    expect(terminalText(text)).toBe(text);
  });
});

describe("JSON for a terminal", () => {
  it("means the same and holds no control character", () => {
    const value = { "k\u009b": "\u001b[2J\u007f\u0085\u202e\u2028\u{e0041}\t\n👩‍👧 é" };
    const json = terminalJson(JSON.stringify(value));
    expect(JSON.parse(json)).toEqual(value);
    expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(json).toContain("\\u009b");
  });
});
