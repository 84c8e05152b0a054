import { matchesGlob } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandBraces, GlobPattern } from "./glob-pattern.ts";

const fits = (pattern: string, path: string) => GlobPattern.parse(pattern)?.matches(path);

describe("a glob pattern", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "a/b.ts", false],
    ["**/*.ts", "b.ts", true],
    ["**/*.ts", "a/b/c.ts", true],
    ["a/**", "a/b/c", true],
    ["a/**", "a", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["./a//b", "a/b", true],
    ["*", ".env", true],
    ["?.ts", "€.ts", true],
    ["?.ts", "😀.ts", true],
    ["?.ts", "ab.ts", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[]]x", "]x", true],
    ["[a", "[a", true],
    ["{a,b{c,d}}.x", "bd.x", true],
    ["{a,b{c,d}}.x", "b.x", false],
    ["{a}", "{a}", true],
    ["{a,b", "{a,b", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["\\{a,b}", "{a,b}", true],
    ["a{,b}", "a", true],
    ["src/{x,y/**}/*.ts", "src/y/1/2/z.ts", true],
    ["**a/b", "xa/b", true],
  ])("%s and %s: %s", (pattern, path, expected) => {
    expect(fits(pattern, path)).toBe(expected);
  });

  it("agrees with Node on simple patterns", () => {
    const part = fc.stringMatching(/^[ab*?]{1,4}$/).filter((text) => !text.includes("**"));
    const segment = fc.oneof(part, fc.constant("**"));
    const name = fc.stringMatching(/^[ab]{1,4}$/);
    fc.assert(
      fc.property(
        fc.array(segment, { minLength: 1, maxLength: 4 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (pattern, path) => {
          expect(fits(pattern.join("/"), path.join("/"))).toBe(
            matchesGlob(path.join("/"), pattern.join("/")),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it("refuses too many alternatives, quickly", () => {
    expect(expandBraces("{a,b}".repeat(30))).toBeNull();
    expect(GlobPattern.parse("{a,b}".repeat(200))).toBeNull();
    expect(expandBraces("{".repeat(1000))).toEqual(["{".repeat(1000)]);
  });

  it("is not slowed down by stars", () => {
    expect(fits("*a".repeat(400), `${"a".repeat(255)}b`)).toBe(false);
    expect(fits(`${"**/".repeat(300)}x`, `${"a/".repeat(200)}y`)).toBe(false);
  });
});
