import { describe, expect, it } from "vitest";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { branchFor, checkBranch, requireUsable } from "./repository-rules.ts";

describe("requireUsable", () => {
  it.each(["https://example.com/a/b.git", "http://example.com:8080/a"])("takes %s", (text) => {
    expect(requireUsable(storedRepositoryAddress(text), false)).toMatchObject({ kind: "web" });
  });

  it("takes a path only with the server's grant", () => {
    const address = storedRepositoryAddress("/srv/git/../git/a");
    expect(requireUsable(address, true)).toEqual({ kind: "path", path: "/srv/git/a" });
    expect(() => requireUsable(address, false)).toThrow(
      expect.objectContaining({ code: "folder_not_allowed" }),
    );
  });

  it.each([
    ...["", "-", "--upload-pack=evil", "ext::sh -c id", "fd::17/foo", "foo::bar", "relative/path"],
    ...["git@example.com:a/b", "ssh://example.com/a", "git://example.com/a", "ftp://example.com/a"],
    ...["https://user:secret@example.com/a", "https://token@example.com/a", "file://host/a"],
    ...["https://example.com/a\nb", "https://exa mple.com", "example.com:a", "https://"],
  ])("refuses %j as it may be stored, without repeating it", (text) => {
    expect(() => requireUsable(storedRepositoryAddress(text), true)).toThrow(
      expect.objectContaining({
        code: "workspace_refused",
        message: expect.not.stringMatching(/secret|token@/),
      }),
    );
  });
});

describe("branches", () => {
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
