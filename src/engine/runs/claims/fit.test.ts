import { describe, expect, it } from "vitest";
import { fits, type RunnerCapabilities, type RunRequirements, requirementsKey } from "./fit.ts";

const capabilities: RunnerCapabilities = {
  id: "rnr_1",
  orgId: "org_1",
  scope: "org",
  hostname: "host-a",
  projectDir: null,
  profile: "default",
  tags: ["linux", "gpu"],
  runtimes: ["echo"],
};
const requirements: RunRequirements = {
  orgId: "org_1",
  ownerId: "usr_1",
  runtime: "echo",
  demands: {},
  pinnedRunnerId: null,
};

describe("whether a runner can take a run", () => {
  const rows: [string, Partial<RunnerCapabilities>, Partial<RunRequirements>, boolean][] = [
    ["asks for nothing", {}, {}, true],
    ["another org", { orgId: "org_2" }, {}, false],
    ["its owner's machine", { scope: "user:usr_1" }, {}, true],
    ["somebody else's machine", { scope: "user:usr_2" }, {}, false],
    ["somebody's machine, nobody's run", { scope: "user:usr_1" }, { ownerId: null }, false],
    ["a runtime it lacks", {}, { runtime: "native" }, false],
    ["some of its tags", {}, { demands: { tags: ["gpu"] } }, true],
    ["a tag it lacks", {}, { demands: { tags: ["gpu", "mac"] } }, false],
    ["its hostname", {}, { demands: { hostname: "host-a" } }, true],
    ["another hostname", {}, { demands: { hostname: "host-b" } }, false],
    ["its folder", { projectDir: "/p" }, { demands: { projectDir: "/p" } }, true],
    ["another folder", { projectDir: "/q" }, { demands: { projectDir: "/p" } }, false],
    ["a folder, of one without", {}, { demands: { projectDir: "/p" } }, false],
    ["another profile", {}, { demands: { profile: "coding" } }, false],
    ["pinned to it", {}, { pinnedRunnerId: "rnr_1" }, true],
    ["pinned to another", {}, { pinnedRunnerId: "rnr_2" }, false],
  ];
  it.each(rows)("%s", (_name, offered, wished, expected) => {
    expect(fits({ ...capabilities, ...offered }, { ...requirements, ...wished })).toBe(expected);
  });

  it("gives equal requirements the same key, in any order of tags", () => {
    const key = (tags: string[]) => requirementsKey({ ...requirements, demands: { tags } });
    expect(key(["a", "b"])).toBe(key(["b", "a"]));
    expect(key(["a"])).not.toBe(key(["b"]));
  });
});
