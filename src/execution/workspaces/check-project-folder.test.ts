import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkProjectFolder } from "./check-project-folder.ts";

const top = mkdtempSync(join(tmpdir(), "muster-folders-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const home = join(top, "home/ann");
const own = join(home, "muster-data");
const project = join(home, "projects/one");
for (const folder of [own, project, join(home, ".ssh"), join(own, "inside")]) {
  mkdirSync(folder, { recursive: true });
}
symlinkSync(own, join(project, "link"));
symlinkSync(project, join(home, "short"));
const check = (folder: string) => checkProjectFolder(folder, { home, protectedFolders: [own] });

describe("checkProjectFolder", () => {
  it("takes a project, by its real path", () => {
    expect(check(project)).toBe(project);
    expect(check(join(home, "short"))).toBe(project);
    expect(check(`${project}/../one/`)).toBe(project);
  });

  it.each([
    ...["/", "/etc", "/etc/ssl", "/usr/lib", "/proc/self", "/tmp", "/var", "/home", "/root"],
    ...[home, join(top, "home"), top, own, join(own, "inside"), join(home, ".ssh")],
    ...[join(project, "link"), join(project, "missing"), "relative", "", `${project}/../..`],
    "/proc/self/cwd/..",
  ])("refuses %s", (folder) => {
    expect(() => check(folder)).toThrow(expect.objectContaining({ code: "workspace_refused" }));
  });
});
