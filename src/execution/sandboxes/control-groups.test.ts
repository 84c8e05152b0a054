import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findBranches, parseMounts, parsePlaces } from "./control-group-mounts.ts";
import { findControlGroups } from "./control-groups.ts";

const top = mkdtempSync(join(tmpdir(), "muster-groups-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** A `/proc` that reports groups mounted in a folder of ours. */
function fakeProc(name: string, mounts: string[], places: string[]): string {
  const proc = join(top, name, "proc");
  mkdirSync(join(proc, "self"), { recursive: true });
  writeFileSync(join(proc, "self/mountinfo"), `${mounts.join("\n")}\n`);
  writeFileSync(join(proc, "self/cgroup"), `${places.join("\n")}\n`);
  return proc;
}

describe("control groups", () => {
  it("reads mounts and places", () => {
    const mount = "35 24 0:30 /box /sys/fs/cgroup/memory rw - cgroup none rw,memory";
    expect(parseMounts(`22 1 0:1 / / rw - ext4 /dev/x rw\n${mount}\n`)).toEqual([
      { root: "/box", at: "/sys/fs/cgroup/memory", version: 1, options: ["rw", "memory"] },
    ]);
    expect(parsePlaces("4:memory:/box/a\n1:cpu,cpuacct:/\n0::/x:y\n").get("")).toBe("/x:y");
  });

  it("finds its place in each tree of version 1, seen from inside a container", () => {
    const proc = fakeProc(
      "v1",
      [
        "1 1 0:1 /box /cg/memory rw - cgroup none rw,memory",
        "2 1 0:2 / /cg/pids rw - cgroup none rw,pids",
      ],
      ["4:memory:/box/a", "3:pids:/b", "0::/"],
    );
    expect(findBranches(proc)).toEqual([
      { folder: "/cg/pids/b", controls: ["pids"], version: 1 },
      { folder: "/cg/memory/a", controls: ["memory"], version: 1 },
    ]);
  });

  it("makes groups beside its own in version 2, with limits", () => {
    const root = join(top, "v2/cg");
    mkdirSync(join(root, "app/own"), { recursive: true });
    writeFileSync(join(root, "app/cgroup.subtree_control"), "cpu memory pids\n");
    const proc = fakeProc("v2", [`1 1 0:1 / ${root} rw - cgroup2 none rw`], ["0::/app/own"]);
    const groups = findControlGroups(proc);
    expect(groups?.version).toBe(2);
    for (const left of readdirSync(join(root, "app"))) {
      if (left.startsWith("muster-")) rmSync(join(root, "app", left), { recursive: true });
    }
    const group = groups?.open({ processes: 7, memoryBytes: 1000, fileBytes: 1 });
    const [name = ""] = readdirSync(join(root, "app")).filter((entry) =>
      entry.startsWith("muster-"),
    );
    const read = (file: string) => readFileSync(join(root, "app", name, file), "utf8");
    expect(read("pids.max")).toBe("7");
    expect(read("memory.max")).toBe("1000");
    expect(read("cgroup.subtree_control")).toBe("+pids +memory");
    expect(group?.openCommand().join).toEqual([join(root, "app", name, "0/cgroup.procs")]);
  });

  it("goes without where there are none, or they are not ours", () => {
    expect(findControlGroups(join(top, "nowhere"))).toBeNull();
    const proc = fakeProc("none", ["1 1 0:1 / /nowhere rw - cgroup2 none rw"], ["0::/x"]);
    expect(findControlGroups(proc)).toBeNull();
  });
});
