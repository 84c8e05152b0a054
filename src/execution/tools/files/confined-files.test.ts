import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HeldFolder, holdFolder } from "#execution/workspaces/folders/held-folder.ts";
import { ConfinedFiles } from "./confined-files.ts";

const SECRET = "secret of the machine";
let machine: string;
let top: string;
let files: ConfinedFiles;

beforeEach(() => {
  machine = realpathSync(mkdtempSync(join(tmpdir(), "muster-confined-")));
  top = join(machine, "top");
  mkdirSync(join(top, "in"), { recursive: true });
  mkdirSync(join(machine, "scratch"));
  mkdirSync(join(machine, "outside"));
  writeFileSync(join(machine, "outside", "secret"), SECRET);
  writeFileSync(join(top, "in", "file"), "inside");
  files = new ConfinedFiles([
    { inside: "/workspace", folder: top },
    { inside: "/scratch", folder: join(machine, "scratch") },
  ]);
});
afterEach(() => rmSync(machine, { recursive: true, force: true }));

async function read(path: string): Promise<string> {
  const opened = await files.open(path);
  if (opened.kind === "folder") {
    await opened.folder.handle.close();
    return "folder";
  }
  try {
    return await opened.handle.readFile("utf8");
  } finally {
    await opened.handle.close();
  }
}

const run = (program: string, ...args: string[]) => execFileSync(program, args);
/** Open descriptors below this folder; the process may hold others, and release them at any time. */
const openDescriptors = () =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(machine) ? [target] : [];
    } catch {
      return [];
    }
  }).length;

describe("paths", () => {
  it.each([
    ["in/file", "inside"],
    ["./in/../in//file", "inside"],
    ["/workspace/in/file", "inside"],
    ["/workspace/../workspace/in/file", "inside"],
    [".", "folder"],
    ["/workspace", "folder"],
    ["/scratch", "folder"],
    ["in", "folder"],
  ])("%s is found", async (path, expected) => {
    expect(await read(path)).toBe(expected);
  });

  it.each([
    "..",
    "../outside/secret",
    "in/../../outside/secret",
    "/etc/passwd",
    "/workspace/../etc/passwd",
    "/workspacex/in",
    "/",
    "/proc/self/environ",
    "/scratch/../etc/passwd",
  ])("%s is outside", async (path) => {
    await expect(read(path)).rejects.toThrow(/outside the workspace/);
    await expect(files.replace(path, "x")).rejects.toThrow(/outside the workspace/);
  });

  it("with NUL, endless or too deep are refused", async () => {
    await expect(read("in/fi\0le")).rejects.toThrow(/NUL/);
    await expect(read("x".repeat(300))).rejects.toThrow(/ENAMETOOLONG/);
    await expect(files.replace("a/".repeat(1000), "x")).rejects.toThrow(/too many folders/);
  });

  it("that do not exist are told with their neighbours", async () => {
    writeFileSync(join(top, "in", "README.md"), "");
    await expect(read("in/readme.md")).rejects.toThrow("Did you mean in/README.md?");
    await expect(read("im/file")).rejects.toThrow("im does not exist. Did you mean in?");
    await expect(read("in/quite-different")).rejects.toThrow(/Search for it with glob/);
    await expect(read("in/file/below")).rejects.toThrow("in/file is not a folder");
  });
});

describe("links", () => {
  it.each([
    ["a relative one", "in/file", "inside"],
    ["an absolute one, as the agent sees it", "/workspace/in/file", "inside"],
    ["one up and down", "in/../in/file", "inside"],
    ["one to a folder", "in", "folder"],
    ["one to the scratch folder", "/scratch/note", "scratched"],
    ["one that goes round outside by name only", "../workspace/in/file", "inside"],
  ])("%s is followed", async (_name, target, expected) => {
    writeFileSync(join(machine, "scratch", "note"), "scratched");
    symlinkSync(target, join(top, "link"));
    symlinkSync("link", join(top, "second"));
    expect(await read("second")).toBe(expected);
  });

  it("in the middle of a path are followed too", async () => {
    symlinkSync("/workspace/in", join(top, "folder"));
    expect(await read("folder/file")).toBe("inside");
    await files.replace("folder/new/file", "made");
    expect(readFileSync(join(top, "in/new/file"), "utf8")).toBe("made");
  });

  it.each([
    ["relative", "../outside/secret"],
    ["absolute on the machine", "MACHINE/outside/secret"],
    ["absolute", "/etc/passwd"],
    ["to the runner's root", "/proc/self/root/etc/passwd"],
    ["to the runner's folder", "/proc/self/cwd/package.json"],
    ["to the runner's descriptors", "/proc/self/fd/0"],
  ])("%s to the outside are refused, last or on the way", async (_name, target) => {
    const real = target.replace("MACHINE", machine);
    symlinkSync(real, join(top, "link"));
    symlinkSync(join(real, ".."), join(top, "folder"));
    const name = real.split("/").at(-1) as string;
    for (const path of ["link", `folder/${name}`]) {
      await expect(read(path)).rejects.toThrow(/is a link to a place outside the workspace/);
      await expect(files.replace(path, "x")).rejects.toThrow(
        /is a link to a place outside the workspace/,
      );
      await expect(files.create(path)).rejects.toThrow(
        /is a link to a place outside the workspace/,
      );
    }
    expect(readFileSync(join(machine, "outside/secret"), "utf8")).toBe(SECRET);
  });

  it("in a circle come to an end", async () => {
    symlinkSync("b", join(top, "a"));
    symlinkSync("a", join(top, "b"));
    await expect(read("a")).rejects.toThrow(/too many links/);
    await expect(files.replace("b/c", "x")).rejects.toThrow(/too many links/);
  });

  it("to nothing can be written through, inside", async () => {
    symlinkSync("in/later", join(top, "link"));
    expect(await files.replace("link", "now")).toEqual({ created: true });
    expect(readFileSync(join(top, "in/later"), "utf8")).toBe("now");
  });
});

describe("what is no file", () => {
  it("is refused at once: pipes, sockets, devices", async () => {
    run("mkfifo", join(top, "pipe"));
    const server = createServer().listen(join(top, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(read("pipe")).rejects.toThrow(/is a pipe/);
    await expect(read("socket")).rejects.toThrow(/is a socket/);
    await expect(files.replace("pipe", "x")).rejects.toThrow(/is a pipe/);
    await expect(files.replace("in", "x")).rejects.toThrow(/is a folder/);
    await expect(files.replace(".", "x")).rejects.toThrow(/is a folder/);
    server.close();
    const devices = new ConfinedFiles([{ inside: "/dev", folder: "/dev" }]);
    await expect(devices.open("zero")).rejects.toThrow(/is a device/);
  });
});

describe("writing", () => {
  it("makes folders, keeps the mode, leaves nothing behind", async () => {
    expect(await files.replace("a/b/c.sh", "one")).toEqual({ created: true });
    chmodSync(join(top, "a/b/c.sh"), 0o750);
    expect(await files.replace("a/b/c.sh", "two")).toEqual({ created: false });
    expect(readFileSync(join(top, "a/b/c.sh"), "utf8")).toBe("two");
    expect(statSync(join(top, "a/b/c.sh")).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(top, "a/b"))).toEqual(["c.sh"]);
  });

  it("drops what lets a file run as somebody else", async () => {
    writeFileSync(join(top, "tool"), "");
    chmodSync(join(top, "tool"), 0o4755);
    await files.replace("tool", "x");
    expect(statSync(join(top, "tool")).mode & 0o7777).toBe(0o755);
  });

  it("never goes through a hard link", async () => {
    linkSync(join(machine, "outside/secret"), join(top, "hard"));
    await files.replace("hard", "changed");
    expect(readFileSync(join(machine, "outside/secret"), "utf8")).toBe(SECRET);
    await expect(files.create("hard")).rejects.toThrow(/EEXIST/);
  });
});

it("leaves no descriptor open, whatever happens", async () => {
  symlinkSync("../outside", join(top, "out"));
  symlinkSync("self", join(top, "self"));
  const before = openDescriptors();
  for (const path of ["in/file", "nothing/here", "out/secret", "self", "in", "in/file/x", "gone"]) {
    await read(path).catch(() => {});
    await files.replace(path, "x").catch(() => {});
    await files.create(path).then(
      (handle) => handle.close(),
      () => {},
    );
  }
  expect(openDescriptors()).toBe(before);
});

describe.skipIf(process.platform !== "linux")("against a swapper", () => {
  /** Swaps, as fast as it can, a folder and a file for links to the outside, and back. */
  const SWAPPER = `
    const fs = require("node:fs");
    process.chdir(process.argv[1]);
    for (const name of ["read", "write"]) {
      fs.mkdirSync(name); fs.writeFileSync(name + "/secret", "harmless");
      fs.writeFileSync(name + "-file", "harmless");
    }
    process.stdout.write("ready");
    const attempt = (work) => { try { work(); } catch {} };
    for (;;) for (const name of ["read", "write"]) {
      attempt(() => fs.renameSync(name, name + "-kept"));
      attempt(() => fs.symlinkSync("../outside", name));
      attempt(() => fs.rmSync(name + "-file"));
      attempt(() => fs.symlinkSync("../outside/secret", name + "-file"));
      attempt(() => fs.unlinkSync(name));
      attempt(() => fs.renameSync(name + "-kept", name));
      attempt(() => fs.unlinkSync(name + "-file"));
      attempt(() => fs.writeFileSync(name + "-file", "harmless", { flag: "wx" }));
    }`;

  it("never reads or writes outside", async () => {
    const swapper = spawn(process.execPath, ["-e", SWAPPER, top], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const seen = { harmless: 0, refused: 0 };
    try {
      await new Promise((resolve) => swapper.stdout.once("data", resolve));
      const before = openDescriptors();
      for (let i = 0; i < 300; i++) {
        for (const path of ["read/secret", "read-file"]) {
          const text = await read(path).catch(() => null);
          expect(text).not.toBe(SECRET);
          seen[text === null ? "refused" : "harmless"]++;
        }
        await files.replace("write/written", "x").catch(() => {});
        await files.replace("write-file", "harmless").catch(() => {});
        await files.create(`write/made-${i}`).then(
          (handle) => handle.close(),
          () => {},
        );
      }
      expect(openDescriptors()).toBe(before);
    } finally {
      swapper.kill("SIGKILL");
    }
    expect(readdirSync(join(machine, "outside"))).toEqual(["secret"]);
    expect(readFileSync(join(machine, "outside/secret"), "utf8")).toBe(SECRET);
    expect(existsSync(join(machine, "outside/written"))).toBe(false);
    // Both happened, or it was no race.
    expect(seen.harmless).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  }, 60_000);
});

describe("a folder that others can reach", () => {
  const hold = () => holdFolder(top, { checkPath: () => {} });
  const held = (more: Partial<HeldFolder>) =>
    new ConfinedFiles([{ inside: "/workspace", folder: top, held: { ...hold(), ...more } }]);
  const swap = () => {
    renameSync(machine, `${machine}-away`);
    mkdirSync(machine);
    symlinkSync(`${machine}-away/outside`, top);
  };
  afterEach(() => rmSync(`${machine}-away`, { recursive: true, force: true }));
  const replaced = { code: "workspace_refused" };

  it("is used as long as it is what it was", async () => {
    files = held({});
    expect(await read("in/file")).toBe("inside");
  });

  it("is not used when a link or another folder has taken its place", async () => {
    files = held({});
    swap();
    await expect(read("secret")).rejects.toMatchObject(replaced);
    await expect(files.replace("made", "x")).rejects.toMatchObject(replaced);
    await expect(files.create("made")).rejects.toMatchObject(replaced);
    rmSync(top);
    mkdirSync(top);
    writeFileSync(join(top, "secret"), SECRET);
    await expect(read("secret")).rejects.toMatchObject(replaced);
    expect(readdirSync(join(`${machine}-away`, "outside"))).toEqual(["secret"]);
  });

  it("is not used when that happens between the check and the opening", async () => {
    const before = openDescriptors();
    const swapOnce = () => {
      // A folder above becomes a link, so that the last name is a folder all the same.
      renameSync(top, `${machine}-away`);
      renameSync(machine, join(`${machine}-away`, "was"));
      mkdirSync(join(`${machine}-away`, "bait", "top"), { recursive: true });
      writeFileSync(join(`${machine}-away`, "bait", "top", "secret"), SECRET);
      symlinkSync(join(`${machine}-away`, "bait"), machine);
    };
    const folder = hold();
    files = new ConfinedFiles([
      { inside: "/workspace", folder: top, held: { ...folder, check: swapOnce } },
    ]);
    await expect(read("secret")).rejects.toMatchObject(replaced);
    folder.close();
    expect(openDescriptors()).toBe(before);
  });
});
