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
});
