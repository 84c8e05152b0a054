import { describe, expect, it } from "vitest";
import { locationOf } from "./session-location.ts";

const NOWHERE = { repo: null, branch: null, projectDir: null };

describe("where a session works", () => {
  it.each([
    ["https://github.com/acme/api.git", null, "acme/api"],
    ["https://github.com/acme/api/", "main", "acme/api · main"],
    ["https://gitlab.test/group/part/api.git", "fix/login", "part/api · fix/login"],
    ["https://git.test/acme/%E4%BD%A0", null, "acme/你"],
    ["https://git.test/acme/%ff", null, "acme/%ff"],
    ["https://git.test/", null, "https://git.test/"],
    ["file:///srv/git/api.git", null, "api"],
    ["/srv/git/api.git", "main", "api · main"],
    ["acme/api", null, "acme/api"],
  ])("%s at %s is %s", (repo, branch, short) => {
    expect(locationOf({ ...NOWHERE, repo, branch })).toEqual({
      short,
      full: `Repository ${repo}${branch === null ? "" : `, started from branch ${branch}`}`,
    });
  });

  it("is a folder, or null", () => {
    const projectDir = "/srv/work/shop/";
    expect(locationOf({ ...NOWHERE, projectDir })).toEqual({
      short: "shop",
      full: `Folder ${projectDir}`,
    });
    expect(locationOf({ ...NOWHERE, projectDir: "/" })?.short).toBe("/");
    expect(locationOf(NOWHERE)).toBeNull();
    expect(locationOf({ ...NOWHERE, projectDir: "" })).toBeNull();
  });

  it("names characters that cannot be seen", () => {
    const found = locationOf({
      ...NOWHERE,
      repo: "https://git.test/acme/api",
      branch: "ma\u202ein",
    });
    expect(found?.short).not.toContain("\u202e");
    expect(found?.full).not.toContain("\u202e");
  });
});
