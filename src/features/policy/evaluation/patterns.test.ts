import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesGlob } from "./patterns.ts";

describe("globs", () => {
  it.each([
    ["text", "a*c", "abc", true],
    ["text", "a*c", "a/b\nc", true],
    ["text", "a?c", "abc", true],
    ["text", "a?c", "ac", false],
    ["text", "*", "", true],
    ["text", "a.c", "abc", false],
    ["text", "a*b*c", "aXbYbZc", true],
    ["text", "[ab]", "a", false],
    ["path", "*.ts", "a.ts", true],
    ["path", "*.ts", "x/a.ts", false],
    ["path", "**/*.ts", "a.ts", true],
    ["path", "**/*.ts", "x/y/a.ts", true],
    ["path", "src/**", "src/a/b", true],
    ["path", "src/**/z", "src/z", true],
    ["path", "src/*/z", "src/z", false],
  ] as const)("%s %s on %s: %s", (kind, pattern, text, expected) => {
    expect(matchesGlob(pattern, text, kind)).toBe(expected);
  });

  it("is not made slow by many stars", () => {
    expect(matchesGlob(`${"*a".repeat(50)}b`, "a".repeat(20_000), "text")).toBe(false);
    expect(matchesGlob(`${"**/a/".repeat(30)}b`, "a/".repeat(5_000), "path")).toBe(false);
  });

  /** Translates a glob into a regular expression. That backtracks, so it serves for short texts only. */
  function reference(pattern: string, kind: "path" | "text"): RegExp {
    const plain = (text: string) => text.replaceAll(/[\\^$.|+()[\]{}]/g, "\\$&");
    const items = (text: string, any: string) =>
      plain(text).replaceAll("*", `${any}*`).replaceAll("?", any);
    if (kind === "text") return new RegExp(`^${items(pattern, "[^]")}$`, "u");
    // Each segment ends with a slash, so that `**` is any number of segments.
    const steps = pattern
      .split("/")
      .map((step) => (step === "**" ? "(?:[^/]*/)*" : `${items(step, "[^/]")}/`));
    return new RegExp(`^${steps.join("")}$`, "u");
  }

  it.each(["text", "path"] as const)("agrees with a reference matcher on %s", (kind) => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "/",
      "*",
      "**",
      "?",
      ".",
      "[",
      "\n",
      "ü",
      "\u{1f600}",
      "**/",
      "/**",
    );
    const pattern = fc.array(piece, { maxLength: 7 }).map((parts) => parts.join(""));
    const text = fc
      .array(fc.constantFrom("a", "b", "/", ".", "[", "*", "\n", "ü", "\u{1f600}"), {
        maxLength: 8,
      })
      .map((parts) => parts.join(""));
    const check = (wanted: string, found: string) => {
      const expected = reference(wanted, kind).test(kind === "path" ? `${found}/` : found);
      expect(matchesGlob(wanted, found, kind)).toBe(expected);
    };
    fc.assert(fc.property(pattern, text, check), { numRuns: 20_000 });
  });
});
