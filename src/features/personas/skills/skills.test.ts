import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.ts";
import { hashOfSkill, pinSkill } from "./skills.ts";

const main = (front: string) => ({ path: "SKILL.md", content: `---\n${front}\n---\n\nDo it.\n` });
const good = main("name: slides\ndescription: Makes slides");

describe("front matter", () => {
  it.each([
    ["---\nname: a\n---\n", { name: "a" }],
    ["\ufeff---\r\nname: a\r\ndescription: b c\r\n---\r\n", { name: "a", description: "b c" }],
    ['---\nname: "a \\"b\\""\n---', { name: 'a "b"' }],
    ["---\nname: 'it''s'\n---", { name: "it's" }],
    ["---\nname: a # really\n---", { name: "a" }],
    ["---\ndescription: >\n  one\n  two\nname: a\n---", { description: "one two", name: "a" }],
    ["---\ndescription: |-\n  one\n  two\n---", { description: "one\ntwo" }],
    ["---\ndescription: one\n  two\n---", { description: "one two" }],
    ["---\nallowed-tools:\n  - x\nname: a\n---", { "allowed-tools": "- x", name: "a" }],
    ["---\nconstructor: a\n__proto__: b\n---", { constructor: "a" }],
    ['---\nname: "a\\tb \\u263a"\n---', { name: "a\tb ☺" }],
    ["---\ndescription: |\n  one\n    two\n---", { description: "one\n  two" }],
    ["---\ndescription: >-\n  one\n  two\n\n  three\n---", { description: "one two\nthree" }],
    ["---\ndescription:\n  below\n  it\n---", { description: "below it" }],
    ["---\nname: true\nversion: 1.0\n---", { name: "true", version: "1.0" }],
  ])("of %j is read", (text, expected) => {
    expect({ ...readFrontMatter(text) }).toMatchObject(expected);
  });

  it.each(["", "name: a", "---\nname: a", " ---\nname: a\n---", "----\nname: a\n---"])(
    "is not in %j",
    (text) => expect(readFrontMatter(text)).toBeUndefined(),
  );

  it.each([
    ["Use when: a page is wanted", "Use when: a page is wanted"],
    ["Use when: it is\n  late # or not", "Use when: it is late"],
    ["&all every", "&all every"],
    ["*all", "*all"],
    ["!!js/function x", "!!js/function x"],
    ["[a, b]", "[a, b]"],
    ['"never ended', '"never ended'],
    ["'ended' early", "'ended' early"],
    ["@someone", "@someone"],
    ["> 5 pages", "> 5 pages"],
    ["d".repeat(5_000), "d".repeat(5_000)],
  ])("takes %j as it was written, because it is no YAML text", (written, read) => {
    expect(readFrontMatter(`---\ndescription: ${written}\n---`)?.description).toBe(read);
  });

  it("is not held up by nested input", () => {
    const began = performance.now();
    for (const open of ["[", "- ", "? ", "a: ", "{a: ", "\n  "])
      for (const chars of [4_000, 200_000])
        readFrontMatter(`---\ndescription: ${open.repeat(chars / open.length)}\n---`);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it("reaches no prototype", () => {
    expect(readFrontMatter("---\na: b\n---")?.constructor).toBeUndefined();
    readFrontMatter("---\n__proto__: b\n---");
    expect(({} as Record<string, unknown>).b).toBeUndefined();
  });
});

describe("a skill", () => {
  it("is pinned by a hash of all its files, in any order", () => {
    const script = { path: "scripts/run.sh", content: "echo" };
    const pinned = pinSkill({ name: "slides", files: [script, good] });
    expect(pinned).toMatchObject({ name: "slides", description: "Makes slides" });
    expect(pinned.files.map(({ path }) => path)).toEqual(["SKILL.md", "scripts/run.sh"]);
    expect(pinned.sha256).toBe(hashOfSkill([good, script]));
    expect(hashOfSkill([good, { ...script, content: "echo 2" }])).not.toBe(pinned.sha256);
    expect(hashOfSkill([good, { ...script, path: "scripts/run2.sh" }])).not.toBe(pinned.sha256);
  });

  it("must be what was looked at, when its hash is given", () => {
    const sha256 = hashOfSkill([good]);
    expect(pinSkill({ name: "slides", files: [good], sha256 }).sha256).toBe(sha256);
    expect(() => pinSkill({ name: "slides", files: [good], sha256: "0".repeat(64) })).toThrow(
      expect.objectContaining({ kind: "conflict", code: "skill_hash_differs" }),
    );
  });

  it.each([
    ["no SKILL.md", { path: "skill.md", content: good.content }],
    ["one in a folder", { path: "a/SKILL.md", content: good.content }],
    ["no front matter", { path: "SKILL.md", content: "Do it." }],
    ["another name", main("name: other\ndescription: d")],
    ["no name", main("description: d")],
    ["no description", main("name: slides")],
    ["an empty description", main('name: slides\ndescription: ""')],
    ["too long a description", main(`name: slides\ndescription: ${"d".repeat(1_025)}`)],
  ])("with %s is refused", (_what, file) => {
    expect(() => pinSkill({ name: "slides", files: [file] })).toThrow(
      expect.objectContaining({ kind: "invalid", code: "skill_invalid" }),
    );
  });
});
