import { describe, expect, it } from "vitest";
import {
  faultOfFilename,
  faultOfPath,
  faultOfSkillName,
  findFileAsFolder,
  findRepeatedName,
  freeSlug,
  SLUG,
  slugFrom,
} from "./names.ts";

describe("names of files", () => {
  it.each(["SYSTEM.md", "a", "9lives", "a-b_c.d.txt", "a".repeat(100), "console.md", "com10x.md"])(
    "takes %j",
    (name) => expect(faultOfFilename(name)).toBeUndefined(),
  );

  it.each([
    "../x",
    "..",
    ".",
    "",
    ".hidden",
    "a/b",
    "a\\b",
    "/etc/passwd",
    "C:x",
    "a\u0000.md",
    "a\n.md",
    "a.md\n",
    "a b",
    "ünï.md",
    "a\u202e.md",
    "-rf",
    "a..md",
    "a.",
    "CON",
    "nul.md",
    "Lpt1.txt",
    "com0",
    "a".repeat(101),
    "%2e%2e",
    "~root",
    "Persona.json",
    "skills",
    "$HOME",
  ])("refuses %j", (name) => expect(faultOfFilename(name)).toEqual(expect.any(String)));
});

describe("paths in skills", () => {
  it.each(["SKILL.md", "scripts/check.sh", "a/b/c/d/e/f/g/h", "_init.py"])("takes %j", (path) =>
    expect(faultOfPath(path)).toBeUndefined(),
  );

  it.each([
    "../x",
    "a/../b",
    "a//b",
    "/a",
    "a/",
    "./a",
    "a/./b",
    ".git/config",
    "a\\b",
    "a/nul",
    "a/b.",
    "a\u0000",
    "a/b/c/d/e/f/g/h/i",
    `${"a".repeat(99)}/${"b".repeat(99)}/${"c".repeat(99)}/${"d".repeat(99)}`,
  ])("refuses %j", (path) => expect(faultOfPath(path)).toEqual(expect.any(String)));

  it("knows names that a disk may not tell apart", () => {
    expect(findRepeatedName(["a.md", "b.md", "A.MD"])).toBe("A.MD");
    expect(findRepeatedName(["a.md", "b.md"])).toBeUndefined();
    expect(findFileAsFolder(["a/b", "x", "A"])).toBe("a/b");
    expect(findFileAsFolder(["a/b", "a/c", "ab"])).toBeUndefined();
  });

  it("knows what a skill may be called", () => {
    for (const name of ["pdf", "a", "make-slides-2"])
      expect(faultOfSkillName(name)).toBeUndefined();
    for (const name of ["", "A", "-a", "a-", "a_b", "a/b", "..", "nul", "a".repeat(65)])
      expect(faultOfSkillName(name)).toEqual(expect.any(String));
  });
});

describe("slugs", () => {
  it.each([
    ["Front End", "front-end"],
    ["  Übung & Maß!  ", "ubung-ma"],
    ["日本語", "persona"],
    ["x".repeat(80), "x".repeat(60)],
    [`${"x".repeat(59)} y`, "x".repeat(59)],
  ])("are made from %j", (name, slug) => {
    expect(slugFrom(name)).toBe(slug);
    expect(slug).toMatch(SLUG);
  });

  it("get the first number that is free, within their length", () => {
    const taken = new Set(["a", "a-2", "a-3"]);
    expect(freeSlug("a", (slug) => taken.has(slug))).toBe("a-4");
    const long = freeSlug("x".repeat(60), () => false);
    expect(long).toBe(`${"x".repeat(58)}-2`);
    expect(freeSlug(`${"x".repeat(57)}--y`, () => false)).toMatch(SLUG);
  });
});
