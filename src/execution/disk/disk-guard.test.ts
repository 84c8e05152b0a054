import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import {
  type CommandEnd,
  DEFAULT_LIMITS,
  type SandboxProvider,
} from "#execution/sandboxes/sandbox.ts";
import { filesOf } from "#execution/tools/files/confined-files.ts";
import type { Workspace, Workspaces } from "#execution/workspaces/workspace.ts";
import { createWorkspaces } from "#execution/workspaces/workspaces.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { DiskGuard } from "./disk-guard.ts";
import { measureFolders } from "./measure-folders.ts";
import { floorOf, quotaOn, readSpace, type Space } from "./space.ts";
import { readUsage } from "./usage-file.ts";

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;
const top = mkdtempSync(join(tmpdir(), "muster-disk-"));
const opened: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  // Some folders are nested too deep for Node.
  execFileSync("/bin/rm", ["-rf", top]);
});

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;
const projects = join(top, "projects");

interface Machine {
  workspaces: Workspaces;
  guard: DiskGuard;
  folder: string;
  /** Replaces the figures of the real disk. */
  space: Partial<Space>;
  /** Replaces the figures of another disk, which holds project folders. */
  otherSpace: Partial<Space>;
}

async function start(provider: SandboxProvider, quota = { bytes: 8 * MiB, files: 400 }) {
  const folder = join(top, String(count++));
  mkdirSync(folder);
  const machine = { folder, space: {}, otherSpace: {} } as Machine;
  machine.guard = new DiskGuard({
    folder,
    settings: { workspace: quota, floorBytes: GiB },
    log: quiet,
    readSpace: (of) => ({
      ...readSpace(of),
      freeBytes: 100 * GiB,
      // Other programs use the real disk too.
      freeFiles: 1e6,
      totalFiles: 1e6,
      ...(of.startsWith(projects) ? machine.otherSpace : machine.space),
    }),
    tickMs: 20,
  });
  machine.workspaces = await createWorkspaces({
    folder,
    sandboxProvider: provider,
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    disk: machine.guard,
    clock: new FakeClock(),
    ids: createIds(),
    log: quiet,
  });
  opened.push(machine.workspaces);
  return machine;
}

const request = (sessionId: string) => ({
  sessionId,
  repository: null,
  branch: null,
  projectDir: null,
  mayUsePath: false,
});

function begin(workspace: Workspace, script: string) {
  const running = workspace.sandbox.run({ argv: ["/bin/sh", "-c", script], timeoutMs: 60_000 });
  running.stdin.end();
  running.stderr.resume();
  const ended = Promise.all([collectText(running.stdout), running.ended]).then(
    ([stdout, end]): CommandEnd & { stdout: string } => ({ ...end, stdout }),
  );
  return { running, ended };
}

const sh = (workspace: Workspace, script: string) => begin(workspace, script).ended;

/** Never ends by itself, and writes a megabyte every few milliseconds. */
const FILL = "n=0; while :; do head -c 1048576 /dev/zero >f$n; n=$((n+1)); sleep 0.02; done";

const PERL = existsSync("/usr/bin/perl");
/** Runs DEEP in so many nested folders; a shell cannot go there. */
const dig = (depth: number) =>
  `/usr/bin/perl -e 'my $n = "d" x 200; for (1..${depth}) { mkdir $n; chdir $n or die; } exec "/bin/sh", "-c", $ARGV[0]' 'DEEP'`;

const providers: [string, () => SandboxProvider][] = [
  ["local", () => createLocal({ path: "/usr/local/bin:/usr/bin:/bin" })],
];
if (bubblewrapFile) {
  const folder = join(top, "sandboxes");
  const create = () => createBubblewrap({ folder, path: "", bwrapFile: bubblewrapFile as string });
  providers.push(["bubblewrap", create]);
}

describe.each(providers)("the quota of a workspace in %s", (_kind, create) => {
  it("ends a command that writes too much, and no other", async () => {
    const { workspaces } = await start(create());
    const [hostile, victim] = await Promise.all([
      workspaces.open(request("ses_hostile")),
      workspaces.open(request("ses_victim")),
    ]);
    const stays = begin(victim, "while [ ! -e end ]; do date >now; sleep 0.02; done; echo done");
    const end = await sh(hostile, FILL);
    expect(end).toMatchObject({ killedBy: "quota" });
    expect(end.why).toContain("workspace_full");
    await filesOf(victim).replace("end", "now");
    expect(await stays.ended).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("counts /tmp and the home folder too", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request("ses_1"));
    for (const place of ["$TMPDIR", "$HOME"]) {
      const end = await sh(workspace, `cd ${place} && ${FILL}`);
      expect(end, place).toMatchObject({ killedBy: "quota" });
      await sh(workspace, `rm -f ${place}/f*`);
    }
  });

  it("ends a command that makes too many files", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request("ses_1"));
    const many = "n=0; while :; do : >f$n; n=$((n+1)); [ $n -lt 500 ] || sleep 1; done";
    const end = await sh(workspace, many);
    expect(end).toMatchObject({ killedBy: "quota" });
    expect(end.why).toMatch(/in \d+ files/);
  });

  it("counts every name of a file with many", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request("ses_1"));
    const links = ": >f; n=0; while :; do ln f l$n; n=$((n+1)); [ $n -lt 500 ] || sleep 1; done";
    expect(await sh(workspace, links)).toMatchObject({ killedBy: "quota" });
  });

  it.skipIf(!PERL)("finds what lies too deep for a path", async () => {
    const { workspaces } = await start(create(), { bytes: 8 * MiB, files: 400 });
    const workspace = await workspaces.open(request("ses_1"));
    const end = await sh(workspace, dig(30).replace("DEEP", FILL));
    expect(end).toMatchObject({ killedBy: "quota" });
  });

  it.skipIf(!PERL)(
    "charges what is too deep to be found, from one command to the next",
    async () => {
      const machine = await start(create(), { bytes: 64 * MiB, files: 10_000 });
      const workspace = await machine.workspaces.open(request("ses_1"));
      let left = 100 * GiB;
      const write = async () => {
        const { running, ended } = begin(
          workspace,
          `${dig(1_200).replace("DEEP", "echo dug")}; sleep 2`,
        );
        await new Promise((resolve) => running.stdout.once("data", resolve));
        // The disk loses the written bytes, as a real one does.
        left -= 40 * MiB;
        machine.space = { freeBytes: left };
        return ended;
      };
      expect(await write()).toMatchObject({ killedBy: null });
      expect(await write()).toMatchObject({ killedBy: "quota" });
      await expect(filesOf(workspace).replace("more", "x")).rejects.toMatchObject({
        code: "workspace_full",
        message: expect.stringContaining("cannot be measured"),
      });
      expect(await sh(workspace, "rm -rf d*; sleep 1.5")).toMatchObject({ exitCode: 0 });
      await filesOf(workspace).replace("more", "x");
    },
  );

  it("lets nothing begin for a while when a full workspace has grown", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request("ses_1"));
    await sh(workspace, FILL);
    // Each command is too short to be measured while it runs.
    const grow = async () => {
      await sh(workspace, 'head -c 3000000 /dev/zero >"$(date +%N)"');
      await workspace.diskBytes();
    };
    await grow();
    let refusal: unknown = null;
    for (let n = 0; n < 3 && refusal === null; n++)
      await grow().catch((error: unknown) => {
        refusal = error;
      });
    expect(refusal).toMatchObject({
      code: "workspace_full",
      message: expect.stringMatching(/has still grown.* in \d+ s/),
    });
  });

  it("lets a full workspace be emptied, and written to again", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request("ses_1"));
    await sh(workspace, FILL);
    const files = filesOf(workspace);
    await expect(files.replace("more", "x".repeat(9 * MiB))).rejects.toMatchObject({
      code: "workspace_full",
    });
    // Long enough to be measured while it runs.
    const emptied = await sh(workspace, "rm f*; sleep 1.5; ls");
    expect(emptied).toMatchObject({ exitCode: 0, stdout: "" });
    await files.replace("more", "x".repeat(MiB));
    expect(await sh(workspace, "wc -c <more")).toMatchObject({ stdout: `${MiB}\n` });
  });
});

it("writes nothing into a folder that git fills, and believes nothing that lies there", async () => {
  const { guard, folder } = await start(createLocal({ path: "/usr/local/bin:/usr/bin:/bin" }));
  const filled = join(folder, "filled");
  mkdirSync(filled);
  const figures = { bytes: 1e12, files: 1e9, recordBytes: 0, before: null };
  writeFileSync(join(filled, "usage.json"), JSON.stringify(figures));
  const planted = guard.openMeter(filled, null, { isKept: false });
  expect(planted.usage.bytes).toBe(0);
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const room = guard.openMeter(empty, null, { isKept: false });
  await guard.measure(room);
  room.save();
  expect(room.isKnown).toBe(true);
  expect(readdirSync(empty)).toEqual([]);
});

describe("the floor of free space", () => {
  const [, create] = providers.at(-1) as (typeof providers)[number];

  it("ends what writes, spares what does not, and refuses until there is room", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const { workspaces, guard } = machine;
    const changes: boolean[] = [];
    guard.onChange(() => changes.push(guard.isLow));
    const writer = await workspaces.open(request("ses_writer"));
    const idler = await workspaces.open(request("ses_idler"));
    // Both must have been measured once, so that it is known which one has grown.
    const idle = begin(idler, "while [ ! -e end ]; do sleep 0.02; done; echo done");
    const write = begin(writer, FILL);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    machine.space = { freeBytes: 0.9 * GiB };
    const end = await write.ended;
    expect(end).toMatchObject({ killedBy: "disk" });
    expect(end.why).toContain("disk_low");
    expect(workspaces.sandboxRefusal()).toMatchObject({ code: "disk_low", kind: "unavailable" });
    await expect(filesOf(writer).replace("more", "x")).rejects.toMatchObject({ code: "disk_low" });
    expect(workspaces.diskReport()).toMatchObject({ isLow: true, floorBytes: GiB });
    // A little above the floor is not enough: the disk would be low again at once.
    machine.space = { freeBytes: 1.05 * GiB };
    expect(workspaces.sandboxRefusal()).not.toBeNull();
    machine.space = { freeBytes: 5 * GiB };
    expect(workspaces.sandboxRefusal()).toBeNull();
    await filesOf(idler).replace("end", "now");
    expect(await idle.ended).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(changes).toEqual([true, false]);
  });

  it("ends the heaviest writer before the floor is reached, so that the others go on", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const { workspaces } = machine;
    const hostile = await workspaces.open(request("ses_hostile"));
    const victim = await workspaces.open(request("ses_victim"));
    const stays = begin(
      victim,
      "head -c 30000000 /dev/zero >big; while [ ! -e end ]; do date >now; sleep 0.02; done; echo done",
    );
    const fills = begin(hostile, FILL);
    let isOver = false;
    void fills.ended.then(() => {
      isOver = true;
    });
    // Little is free, but it stays as it is: no command is ended for that.
    machine.space = { freeBytes: 1.5 * GiB };
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(isOver).toBe(false);
    expect(workspaces.diskReport()).toMatchObject({ isPressed: true, isLow: false });
    machine.space = { freeBytes: 1.4 * GiB };
    const end = await fills.ended;
    expect(end).toMatchObject({ killedBy: "disk" });
    expect(end.why).toMatch(/grown by \d+/);
    expect(workspaces.sandboxRefusal()).toBeNull();
    await filesOf(victim).replace("end", "now");
    expect(await stays.ended).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("finds who has written to a file that was deleted while open", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const { workspaces } = machine;
    const hostile = await workspaces.open(request("ses_hostile"));
    const victim = await workspaces.open(request("ses_victim"));
    const stays = begin(victim, "while [ ! -e end ]; do date >now; sleep 0.02; done; echo done");
    const unseen = begin(
      hostile,
      "exec 3>f; rm f; head -c 20000000 /dev/zero >&3; while :; do sleep 0.05; done",
    );
    machine.space = { freeBytes: 1.5 * GiB };
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    machine.space = { freeBytes: 1.4 * GiB };
    expect(await unseen.ended).toMatchObject({ killedBy: "disk" });
    await filesOf(victim).replace("end", "now");
    expect(await stays.ended).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("leaves a short command alone in a project on another disk that is almost full", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const projectDir = join(projects, String(count++));
    mkdirSync(projectDir, { recursive: true });
    const workspace = await machine.workspaces.open({
      ...request("ses_1"),
      projectDir,
      mayUsePath: true,
    });
    machine.otherSpace = { freeBytes: 0.9 * GiB };
    expect(await sh(workspace, "sleep 0.3; rm -f old; echo done")).toMatchObject({
      exitCode: 0,
      stdout: "done\n",
    });
    const end = await sh(workspace, FILL);
    expect(end).toMatchObject({ killedBy: "disk" });
    expect(end.why).toContain("922 MiB are free");
  });

  it("says that files are missing when bytes are not", async () => {
    const machine = await start(create());
    machine.space = { freeFiles: 5_000 };
    expect(machine.workspaces.sandboxRefusal()?.message).toContain("5000 of its 1000000 files");
    expect(machine.workspaces.diskReport()).toMatchObject({ freeFiles: 5_000, isLow: true });
  });

  it("spares nobody when the space goes on shrinking unseen", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const workspace = await machine.workspaces.open(request("ses_1"));
    // The file is deleted while it is open: no walk finds it.
    const { ended } = begin(workspace, "exec 3>f; rm f; while :; do echo x >&3; sleep 0.05; done");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    machine.space = { freeBytes: 0.5 * GiB };
    expect(await ended).toMatchObject({ killedBy: "disk" });
  });
});

it("goes by what it saw last when the runner's own folder cannot be read", () => {
  const seen = { freeBytes: 5 * GiB, totalBytes: 50 * GiB, freeFiles: 10, totalFiles: 100 };
  let isGone = false;
  const guard = new DiskGuard({
    folder: top,
    settings: { workspace: { bytes: MiB, files: 1 }, floorBytes: GiB },
    log: quiet,
    readSpace: () => {
      if (isGone) throw new Error("ENOENT");
      return seen;
    },
  });
  isGone = true;
  expect(guard.space("/other")).toEqual(seen);
  expect(() => guard.look()).not.toThrow();
  guard.close();
});

describe("many workspaces", () => {
  it("measures each, and writes down at once what project folders held before", async () => {
    const [, create] = providers[0] as (typeof providers)[number];
    const { workspaces, folder } = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const opening = [1, 2, 3, 4, 5].map((n) => {
      const projectDir = join(projects, `many-${n}`);
      mkdirSync(projectDir, { recursive: true });
      writeFileSync(join(projectDir, "big"), "x".repeat(MiB));
      return workspaces.open({ ...request(`ses_${n}`), projectDir, mayUsePath: true });
    });
    for (const { id } of await Promise.all(opening)) {
      const stored = () => readUsage(join(folder, "workspaces", id))?.before?.bytes ?? 0;
      // Checked long before any of them is closed.
      await expect.poll(stored).toBeGreaterThanOrEqual(MiB);
    }
  });
});

describe("limits by the size of the disk", () => {
  const space = (totalBytes: number): Space => ({
    totalBytes,
    freeBytes: totalBytes,
    totalFiles: 0,
    freeFiles: 0,
  });

  it("keeps 5 % free, from 1 to 2 GiB, and never more than a quarter", () => {
    expect(floorOf(space(30 * GiB), null)).toBe(1.5 * GiB);
    expect(floorOf(space(8 * GiB), null)).toBe(GiB);
    expect(floorOf(space(2000 * GiB), null)).toBe(2 * GiB);
    expect(floorOf(space(GiB), null)).toBe(GiB / 4);
    expect(floorOf(space(GiB), 5)).toBe(5);
  });

  it("gives no workspace more than a quarter", () => {
    const set = { bytes: 20 * GiB, files: 1_000_000 };
    expect(quotaOn(space(400 * GiB), set)).toEqual(set);
    expect(quotaOn({ ...space(40 * GiB), totalFiles: 1_000 }, set)).toEqual({
      bytes: 10 * GiB,
      files: 250,
    });
  });
});

describe("measuring", () => {
  const make = (name: string) => {
    const folder = join(top, name);
    mkdirSync(folder);
    return folder;
  };

  it("stops when it is told to, and looks up while it reads one large folder", async () => {
    const folder = make("many");
    for (let n = 0; n < 5_000; n++) mkdirSync(join(folder, String(n)));
    let rests = 0;
    const whole = await measureFolders([folder], { onRest: () => rests++ });
    expect(whole.files).toBe(5_000);
    expect(rests).toBeGreaterThan(0);
    const stopped = await measureFolders([folder], { signal: AbortSignal.abort() });
    expect(stopped.files).toBeLessThan(5_000);
    expect(await measureFolders([folder], { maxFiles: 100 })).toMatchObject({
      files: 101,
      isWhole: false,
    });
  });

  it("finds names that are no text, counts all names, and follows no links", async () => {
    const folder = make("names");
    writeFileSync(
      Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]),
      "x".repeat(MiB),
    );
    writeFileSync(join(folder, "b"), "x".repeat(MiB));
    linkSync(join(folder, "b"), join(folder, "c"));
    symlinkSync("/", join(folder, "root"));
    const { bytes, files, isWhole } = await measureFolders([folder]);
    expect({ files, isWhole }).toEqual({ files: 4, isWhole: true });
    expect(bytes).toBeGreaterThanOrEqual(2 * MiB);
    expect(bytes).toBeLessThan(3 * MiB);
  });

  it.skipIf(process.getuid?.() !== 0)("makes what was made unreadable readable again", () => {
    const folder = make("unreadable");
    // Read first: the folders above the program may be closed to others.
    const script = `const { measureFolders } = await import(process.argv[1]);
      process.setgid(65534);
      process.setuid(65534);
      console.log(JSON.stringify([await measureFolders([process.argv[2]]),
        await measureFolders([process.argv[2]], { opensUp: true })]));`;
    const file = join(import.meta.dirname, "measure-folders.ts");
    execFileSync("/bin/sh", [
      "-c",
      'chmod 755 "$2"; cd "$1"; mkdir h; head -c 1000000 /dev/zero >h/a; chown -R 65534 .; chmod 300 h',
      "sh",
      folder,
      top,
    ]);
    const said = execFileSync(
      process.execPath,
      ["--input-type=module", "-e", script, file, folder],
      { encoding: "utf8", cwd: "/" },
    );
    const [before, after] = JSON.parse(said);
    expect(before).toMatchObject({ files: 1, isWhole: false });
    expect(after).toMatchObject({ files: 2, isWhole: true });
    expect(after.bytes).toBeGreaterThan(1_000_000);
  });
});
