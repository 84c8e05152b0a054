import { describe, expect, it } from "vitest";
import { branchFor, checkBranch, parseRepository } from "./parse-repository.ts";

describe("parseRepository", () => {
  it.each([
    ["https://example.com/a/b.git", { kind: "web", host: "example.com" }],
    ["http://example.com:8080/a", { kind: "web", host: "example.com" }],
    ["/srv/git/../git/a", { kind: "path", path: "/srv/git/a" }],
    ["file:///srv/git/a%20b", { kind: "path", path: "/srv/git/a b" }],
  ])("takes %s", (address, expected) => {
    expect(parseRepository(address)).toMatchObject(expected);
  });

  it.each([
    ...["", "-", "--upload-pack=evil", "ext::sh -c id", "fd::17/foo", "foo::bar", "relative/path"],
    ...["git@example.com:a/b", "ssh://example.com/a", "git://example.com/a", "ftp://example.com/a"],
    ...["https://user:secret@example.com/a", "https://token@example.com/a", "file://host/a"],
    ...["https://example.com/a\nb", "https://exa mple.com", "example.com:a", "https://"],
  ])("refuses %j, without repeating it", (address) => {
    try {
      parseRepository(address);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "workspace_refused" });
      expect(String(error)).not.toMatch(/secret|token@/);
    }
  });

  it("makes a branch name of any session", () => {
    expect(branchFor("ses_01abc")).toBe("muster/ses_01abc");
    expect(branchFor("../../x..lock~^: ")).toBe("muster/x-lock-");
    expect(branchFor("")).toBe("muster/session");
  });

  it("takes names of branches and nothing else", () => {
    for (const good of ["main", "feature/x-1", "größe", "v1.2"])
      expect(checkBranch(good)).toBe(good);
    for (const bad of ["-x", "--orphan", "a b", "a..b", "a:b", "@{-1}", "a~1", "a^", "a\nb"]) {
      expect(() => checkBranch(bad)).toThrow(/branch/);
    }
  });
});
