import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FolderRules, holdProjectFolder, resolveRules } from "./check-project-folder.ts";

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
const check = (folder: string, more: Partial<FolderRules> = {}) => {
  const held = holdProjectFolder(folder, resolveRules({ home, protectedFolders: [own], ...more }));
  held.close();
  return held.path;
};
const refusal = expect.objectContaining({ code: "workspace_refused" });

describe("holdProjectFolder", () => {
  it("takes a project, by its real path", () => {
    expect(check(project)).toBe(project);
    expect(check(join(home, "short"))).toBe(project);
    expect(check(`${project}/../one/`)).toBe(project);
  });

  it.each([
    ...["/", "/etc", "/etc/ssl", "/usr/lib", "/proc/self", "/tmp", "/var", "/home", "/root"],
    ...[home, join(top, "home"), top, own, join(own, "inside"), join(home, ".ssh")],
    ...[join(project, "link"), join(project, "missing"), "relative", "", `${project}/../..`],
    ...["/proc/self/cwd/..", "/var/spool", "/var/spool/cron", "/var/mail", "/var/backups", "/snap"],
    ...[
      "/var/lib",
      "/var/lib/dpkg",
      "/home/somebody",
      "/home/somebody/.ssh",
      "/home/.all/x",
      "/root/.ssh",
    ],
  ])("refuses %s", (folder) => {
    expect(() => check(folder)).toThrow(refusal);
  });

  it("says the same of what exists and what does not, where nobody may look", () => {
    const why = (folder: string) => {
      try {
        return check(folder, { projectFolders: [project] });
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(why(join(home, "projects"))).toBe(why(join(home, "never-was")));
    expect(why("/etc/passwd")).toBe(why("/etc/never-was"));
  });

  it("takes nothing outside of the folders for projects, if there are any", () => {
    const two = join(home, "projects/two");
    mkdirSync(two, { recursive: true });
    const projectFolders = [join(home, "short"), "/no/such/folder"];
    expect(check(project, { projectFolders })).toBe(project);
    expect(() => check(two, { projectFolders })).toThrow(refusal);
    expect(() => check(join(home, "projects"), { projectFolders })).toThrow(refusal);
    expect(check(two, { projectFolders: [join(home, "projects")] })).toBe(two);
    // Naming folders does not lift refusals that hold anyway.
    expect(() => check(home, { projectFolders: ["/"] })).toThrow(refusal);
    expect(() => check(own, { projectFolders: [own] })).toThrow(refusal);
    expect(() => check("/etc/ssl", { projectFolders: ["/etc/ssl"] })).toThrow(refusal);
  });

  it("takes what lies in a service's folder only if just that was named", () => {
    const known = "/var/lib/dpkg";
    if (!existsSync(known)) return;
    expect(check(known, { projectFolders: [known] })).toBe(known);
    expect(() => check(known, { projectFolders: ["/var", "/"] })).toThrow(refusal);
  });

  it("takes nothing outside of the runner's own folder, if it has one", () => {
    const two = join(home, "projects/two");
    mkdirSync(two, { recursive: true });
    expect(check(project, { onlyWithin: project })).toBe(project);
    expect(() => check(two, { onlyWithin: project })).toThrow(refusal);
    expect(() => check(two, { onlyWithin: project, projectFolders: [two] })).toThrow(refusal);
  });

  it("goes on meaning the folder that was named, though a link takes its place", () => {
    const named = join(home, "named");
    const secret = join(home, "private");
    mkdirSync(named);
    mkdirSync(secret);
    const rules = resolveRules({ home, protectedFolders: [], projectFolders: [named] });
    renameSync(named, join(home, "away"));
    symlinkSync(secret, named);
    expect(() => holdProjectFolder(named, rules)).toThrow(refusal);
  });
});
