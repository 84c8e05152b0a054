import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdFolder } from "./held-folder.ts";

let machine: string;
let folder: string;
beforeEach(() => {
  machine = realpathSync(mkdtempSync(join(tmpdir(), "muster-held-")));
  folder = join(machine, "projects/app");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(machine, { recursive: true, force: true }));

const replaced = expect.objectContaining({
  code: "workspace_refused",
  message: expect.stringContaining("was replaced"),
});
const hold = (known: string | null = null, path = folder) =>
  holdFolder(path, { known, checkPath: () => {} });
const openDescriptors = () => readdirSync("/proc/self/fd").length;

describe("holdFolder", () => {
  it("names a folder as the kernel does", () => {
    const held = hold();
    const { dev, ino } = statSync(folder, { bigint: true });
    expect(held).toMatchObject({ path: folder, identity: `${dev}:${ino}` });
    held.check();
    held.close();
    held.close();
  });

  it.each([
    ["a link in its place", () => symlinkSync(join(machine, "away"), folder)],
    ["another folder in its place", () => mkdirSync(folder)],
    ["nothing in its place", () => {}],
  ])("refuses %s, and takes it when it is back", (_, put) => {
    const before = openDescriptors();
    const held = hold();
    renameSync(folder, join(machine, "away"));
    put();
    expect(() => held.check()).toThrow(replaced);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(machine, "away"), folder);
    held.check();
    held.close();
    expect(openDescriptors()).toBe(before);
  });

  it("refuses a link anywhere above, also to the very folder", () => {
    const held = hold();
    renameSync(join(machine, "projects"), join(machine, "moved"));
    symlinkSync(join(machine, "moved"), join(machine, "projects"));
    expect(() => held.check()).toThrow(replaced);
    expect(() => hold()).toThrow(replaced);
    held.close();
  });

  it("knows it again, and no other, also when devices have new numbers", () => {
    const held = hold();
    const [, inode] = held.identity.split(":");
    hold(held.identity).close();
    hold(`999999:${inode}`).close();
    renameSync(folder, join(machine, "away"));
    mkdirSync(folder);
    expect(() => hold(held.identity)).toThrow(replaced);
    held.close();
  });

  it("asks each time whether an agent may work there", () => {
    const before = openDescriptors();
    let may = true;
    const checkPath = () => {
      if (!may) throw new Error("not here");
    };
    const held = holdFolder(folder, { checkPath });
    may = false;
    expect(() => held.check()).toThrow("not here");
    held.close();
    expect(() => holdFolder(folder, { checkPath })).toThrow("not here");
    expect(openDescriptors()).toBe(before);
  });
});
