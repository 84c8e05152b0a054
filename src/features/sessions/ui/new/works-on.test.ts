import { describe, expect, it, test } from "vitest";
import { placeOf, placeProblems, refusedPlace, WORKS_ON_NOTHING } from "./works-on.ts";

const repo = (address: string, branch = "") => ({
  ...WORKS_ON_NOTHING,
  kind: "repo" as const,
  repo: address,
  branch,
});
const folder = (projectDir: string) => ({
  ...WORKS_ON_NOTHING,
  kind: "folder" as const,
  projectDir,
});

describe("a repository", () => {
  it.each(["https://example.com/a.git", "file:///srv/a", "/srv/a", " http://127.0.0.1/a "])(
    "may be %s",
    (address) => expect(placeProblems(repo(address))).toEqual({}),
  );
  it.each([
    ["", /^Enter a repository\.$/],
    ["git@github.com:a/b.git", /SSH/],
    ["ssh://host/a", /SSH/],
    ["github.com/a/b", /full URL/],
    ["ext::sh -c id", /full URL/],
    ["https://token@example.com/a", /password/],
  ])("may not be %s", (address, words) => expect(placeProblems(repo(address)).repo).toMatch(words));
  it("may be named when it is known", () => {
    expect(placeProblems(repo(" Acme/Website "), ["acme/website"])).toEqual({});
    expect(placeProblems(repo("acme/other"), ["acme/website"])).toHaveProperty("repo");
  });
  it.each(["-f", "a b", "a..b"])("has no branch %s", (branch) =>
    expect(placeProblems(repo("/a", branch))).toHaveProperty("branch"),
  );
});

test("a folder is given whole", () => {
  expect(placeProblems(folder("/home/me/x"))).toEqual({});
  expect(placeProblems(folder("x"))).toHaveProperty("projectDir");
  expect(placeProblems(folder(" "))).toHaveProperty("projectDir");
});

test("only what is chosen is sent", () => {
  const all = { repo: " /a ", branch: "", projectDir: "/b" };
  expect(placeOf({ kind: "nothing", ...all })).toEqual({});
  expect(placeOf({ kind: "repo", ...all })).toEqual({ repo: "/a" });
  expect(placeOf({ kind: "repo", ...all, branch: "dev" })).toEqual({ repo: "/a", branch: "dev" });
  expect(placeOf({ kind: "folder", ...all })).toEqual({ projectDir: "/b" });
});

test("the server's words stand at their field", () => {
  const details = [
    { path: "repo", message: "too long" },
    { path: "title", message: "too long" },
  ];
  const refused = { code: "invalid_request", message: "no", details };
  expect(refusedPlace(refused, "repo")).toEqual({ repo: "too long" });
  const folders = { code: "folder_not_allowed", message: "Ask an admin.", details: [] };
  expect(refusedPlace(folders, "folder")).toEqual({ projectDir: "Ask an admin." });
  const off = { code: "repo_disabled", message: "Ask an admin.", details: [] };
  expect(refusedPlace(off, "repo")).toEqual({ repo: "Ask an admin." });
  expect(refusedPlace(folders, "repo")).toEqual({ repo: "Ask an admin." });
});
