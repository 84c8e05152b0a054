import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GitHost, startGitHost } from "#test/services/git-host.ts";
import type { SkillImport } from "../contract.ts";
import { hashOfSkill } from "../skills/skills.ts";
import { withFetchedTree } from "./fetch-tree.ts";
import { createSkillFetcher } from "./import-skills.ts";
import { parseSkillAddress } from "./skill-address.ts";

const searchPath = process.env.PATH ?? "";
const parent = mkdtempSync(join(tmpdir(), "muster-import-"));
const fetchSkills = createSkillFetcher({ searchPath, parent });
const admin = { ownNetwork: true };
const main = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: About ${name}\n---\n${more}`;
const left = () => readdirSync(parent);

describe("skills from a git repository", () => {
  let host: GitHost;
  beforeAll(async () => {
    host = await startGitHost();
  });
  afterAll(async () => {
    await host.stop();
    rmSync(parent, { recursive: true });
  });
  const take = (fields: Partial<SkillImport> = {}) =>
    fetchSkills({ url: host.url, ...fields }, admin);
  /** Commits on a separate branch, so that tests do not see each other's files. */
  const branch = (name: string, files: Parameters<GitHost["commit"]>[0]) => {
    host.git("checkout", "-q", "--orphan", name);
    host.git("rm", "-rfq", "--ignore-unmatch", ".");
    return host.commit(files);
  };
  const refused = (fields: Partial<SkillImport>, code: string, words: RegExp) =>
    expect(take(fields)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(words),
    });

  it("are found, read and pinned to commit and content", async () => {
    const commit = branch("good", {
      "README.md": "not a skill",
      "skills/pdf/SKILL.md": main("pdf", "Reads."),
      "skills/pdf/scripts/run.sh": "echo ü\n",
      "skills/pdf/.hidden": "left out",
      "skills/pdf/inner/SKILL.md": "belongs to pdf",
      ".claude/skills/mail/SKILL.md": main("mail"),
    });
    const skills = await take({ ref: "good" });
    expect(skills.map(({ name }) => name)).toEqual(["mail", "pdf"]);
    const [, pdf] = skills;
    expect(pdf).toMatchObject({
      description: "About pdf",
      source: { url: host.url, ref: "good", path: "skills/pdf", commit },
      sha256: hashOfSkill(pdf?.files ?? []),
    });
    expect(pdf?.files).toEqual([
      { path: "SKILL.md", content: main("pdf", "Reads.") },
      { path: "inner/SKILL.md", content: "belongs to pdf" },
      { path: "scripts/run.sh", content: "echo ü\n" },
    ]);
    expect((await take({ ref: "good", path: "/skills/pdf/" }))[0]?.source?.path).toBe("skills/pdf");
    // An import by commit gives the files of that commit, whatever came later.
    host.commit({ "skills/pdf/SKILL.md": main("pdf", "Reads more.") });
    expect((await take({ ref: commit, path: "skills/pdf" }))[0]?.sha256).toBe(pdf?.sha256);
    expect((await take({ ref: "good", path: "skills/pdf" }))[0]?.sha256).not.toBe(pdf?.sha256);
    host.git("tag", "-a", "v1", "-m", "v1", commit);
    expect((await take({ ref: "v1", path: "skills/pdf" }))[0]?.source?.commit).toBe(commit);
    expect(left()).toEqual([]);
  });

  it("take the top of a repository too, and its usual branch", async () => {
    branch("main", { "SKILL.md": main("whole"), "docs/a.md": "a" });
    const [skill, ...more] = await take();
    expect(more).toEqual([]);
    expect(skill).toMatchObject({ name: "whole", source: { ref: null, path: "" } });
    expect(skill?.files.map(({ path }) => path)).toEqual(["SKILL.md", "docs/a.md"]);
  });

  it("are refused with words when they are not plain text of a moderate size", async () => {
    branch("link", { "a/SKILL.md": main("a"), "a/key": { link: "/etc/passwd" } });
    await refused({ ref: "link" }, "skill_invalid", /a cannot be used: key is a link/);
    branch("link-main", { "a/SKILL.md": { link: "../b" }, b: main("a") });
    await refused({ ref: "link-main" }, "skill_invalid", /SKILL.md is a link/);
    branch("binary", { "a/SKILL.md": main("a"), "a/x.png": Buffer.from([0x89, 0x50, 0xff, 0]) });
    await refused({ ref: "binary" }, "skill_invalid", /a\/x.png is not text/);
    branch("zero", { "a/SKILL.md": main("a"), "a/x": "a\u0000b" });
    await refused({ ref: "zero" }, "skill_invalid", /a\/x is not text/);
    branch("odd", { "a/SKILL.md": main("a"), "a/two words.md": "x" });
    await refused({ ref: "odd" }, "skill_invalid", /two words.md must be a path/);
    branch("caps", { "a/SKILL.md": main("a"), "a/X.md": "x", "a/x.md": "x" });
    await refused({ ref: "caps" }, "skill_invalid", /twice/);
    branch("large", { "a/SKILL.md": main("a"), "a/x.md": "x".repeat(2 * 1024 * 1024) });
    await refused({ ref: "large" }, "skills_too_large", /Name a folder with fewer/);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a/${n}.md`, "x"]));
    branch("many", { ...many, "a/SKILL.md": main("a") });
    await refused({ ref: "many" }, "skills_too_large", /101 files/);
    const crowd = Object.fromEntries(
      Array.from({ length: 21 }, (_, n) => [`s${n}/SKILL.md`, main(`s${n}`)]),
    );
    branch("crowd", crowd);
    await refused({ ref: "crowd" }, "too_many_skills", /21 skills.*such as s0, s1/);
    expect(await take({ ref: "crowd", path: "s7" })).toHaveLength(1);
  });

  it("are refused when their SKILL.md does not say what they are", async () => {
    branch("bare", { "README.md": "x" });
    await refused({ ref: "bare" }, "no_skill_found", /no SKILL.md/);
    branch("front", { "a/SKILL.md": "Do it." });
    await refused({ ref: "front" }, "skill_invalid", /a\/SKILL.md must start with front matter/);
    branch("name", { "a/SKILL.md": main("../../etc") });
    await refused(
      { ref: "name" },
      "skill_invalid",
      /name in a\/SKILL.md must be lower-case letters/,
    );
    branch("silent", { "a/SKILL.md": "---\nname: a\n---\n" });
    await refused({ ref: "silent" }, "skill_invalid", /description/);
    branch("twins", { "a/SKILL.md": main("same"), "b/SKILL.md": main("same") });
    await refused({ ref: "twins" }, "skill_invalid", /Two of its skills are named same/);
    await refused({ ref: "bare", path: "none" }, "path_invalid", /no folder none/);
    await refused({ ref: "bare", path: "README.md" }, "path_invalid", /no folder/);
    await refused({ ref: "nowhere" }, "import_failed", /nowhere of http.*cannot be fetched/);
    expect(left()).toEqual([]);
  });

  it("are refused when the ref names a folder or a file and no commit", async () => {
    branch("refs", { "a/SKILL.md": main("a") });
    host.git("tag", "tree-tag", host.git("rev-parse", "HEAD^{tree}"));
    host.git("tag", "blob-tag", host.git("rev-parse", "HEAD:a/SKILL.md"));
    await refused({ ref: "tree-tag" }, "ref_invalid", /tree-tag is not a commit/);
    await refused({ ref: "blob-tag" }, "ref_invalid", /blob-tag is not a commit/);
    expect(left()).toEqual([]);
  });

  it("remove leftovers of a killed server, and nothing else", async () => {
    branch("clear", { "a/SKILL.md": main("a") });
    const make = (name: string, minutesAgo: number) => {
      mkdirSync(join(parent, name));
      writeFileSync(join(parent, name, "pack"), "x");
      const at = new Date(Date.now() - minutesAgo * 60_000);
      utimesSync(join(parent, name), at, at);
    };
    make("muster-skills-old", 11);
    make("muster-skills-now", 1);
    make("other-old", 11);
    symlinkSync(join(parent, "other-old"), join(parent, "muster-skills-link"));
    await take({ ref: "clear" });
    expect(left().sort()).toEqual(["muster-skills-link", "muster-skills-now", "other-old"]);
    for (const name of left()) rmSync(join(parent, name), { recursive: true });
  });

  it("leave out what is another repository", async () => {
    branch("module", { "a/SKILL.md": main("a") });
    const head = host.git("rev-parse", "HEAD");
    host.git("update-index", "--add", "--cacheinfo", `160000,${head},a/sub`);
    host.git("commit", "-qm", "submodule");
    await refused({ ref: "module" }, "skill_invalid", /a\/?.*sub is a repository of its own/);
  });

  it("are not looked for where a repository points to", async () => {
    host.answer = (request, response) => {
      response.statusCode = 302;
      response.setHeader("location", `${host.origin}/elsewhere${request.url}`);
      response.end();
    };
    host.asked.length = 0;
    await refused({}, "import_failed", /cannot be fetched/);
    expect(host.asked.filter((path) => path.startsWith("/elsewhere"))).toEqual([]);
    // A plain file server could redirect git to other hosts.
    host.answer = (request, response) => {
      const isRefs = request.url?.startsWith("/repo.git/info/refs");
      response.end(isRefs ? `${"a".repeat(40)}\trefs/heads/main\n` : "ref: refs/heads/main\n");
    };
    await refused({}, "import_failed", /cannot be fetched/);
    expect(host.asked.filter((path) => path.includes("alternates"))).toEqual([]);
    host.answer = undefined;
  });

  it("need no answer to a question for a password", async () => {
    host.answer = (_request, response) => {
      response.statusCode = 401;
      response.setHeader("www-authenticate", "Basic realm=x");
      response.end();
    };
    await refused({}, "import_failed", /without credentials/);
    host.answer = undefined;
  });

  it("are given up when the host is silent, and nothing is left behind", async () => {
    host.answer = () => {};
    const address = parseSkillAddress({ url: host.url });
    const options = { searchPath, parent, timeoutMs: 300 };
    const attempt = withFetchedTree(address, "127.0.0.1", options, async () => "never");
    await expect(attempt).rejects.toMatchObject({ code: "import_timed_out" });
    host.answer = undefined;
    expect(left()).toEqual([]);
  });

  it("are not fetched from a repository that would fill the disk", async () => {
    branch("heavy", { "a/SKILL.md": main("a"), "data.bin": randomBytes(1024 * 1024) });
    const bounded = createSkillFetcher({ searchPath, parent, maxPackBytes: 64 * 1024 });
    const attempt = bounded({ url: host.url, ref: "heavy" }, admin);
    await expect(attempt).rejects.toMatchObject({ kind: "too_large", code: "import_too_large" });
    expect(left()).toEqual([]);
  });

  it("are fetched from the address that was checked, not from what the name says later", async () => {
    branch("pinned", { "a/SKILL.md": main("a") });
    const url = host.url.replace("127.0.0.1", "no-such-host.invalid");
    const lookupAll = async () => [{ address: "127.0.0.1", family: 4 }];
    const skills = await fetchSkills({ url, ref: "pinned" }, { ...admin, lookupAll });
    expect(skills[0]?.source?.url).toBe(url);
  });

  it("are fetched two at a time", async () => {
    branch("slow", { "a/SKILL.md": main("a") });
    const all = await Promise.allSettled([1, 2, 3].map(() => take({ ref: "slow" })));
    expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
    const late = all.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(late.reason).toMatchObject({ code: "imports_busy", kind: "limit" });
    expect(await take({ ref: "slow" })).toHaveLength(1);
  });

  it("say so when there is no git", async () => {
    const without = createSkillFetcher({ searchPath: "/nonexistent" });
    await expect(without({ url: host.url }, admin)).rejects.toMatchObject({ code: "git_missing" });
  });
});
