import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
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
import { filesOf } from "#execution/tools/confined-files.ts";
import type { Workspace, Workspaces } from "#execution/workspaces/workspace.ts";
import { createWorkspaces } from "#execution/workspaces/workspaces.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { DiskGuard } from "./disk-guard.ts";
import { measureFolders } from "./measure-folders.ts";
import { floorOf, quotaOn, readSpace, type Space } from "./space.ts";

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;
const top = mkdtempSync(join(tmpdir(), "muster-disk-"));
const opened: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  rmSync(top, { recursive: true, force: true });
});

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;

interface Machine {
  workspaces: Workspaces;
  guard: DiskGuard;
  folder: string;
  /** Instead of the real disk. */
  space: Partial<Space>;
}

async function start(provider: SandboxProvider, quota = { bytes: 8 * MiB, files: 400 }) {
  const folder = join(top, String(count++));
  mkdirSync(folder);
  const machine = { folder, space: {} } as Machine;
  machine.guard = new DiskGuard({
    folder,
    settings: { workspace: quota, floorBytes: GiB },
    log: quiet,
    readSpace: (of) => ({ ...readSpace(of), freeBytes: 100 * GiB, ...machine.space }),
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

const wish = (sessionId: string) => ({
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

/** Never ends by itself, and takes a megabyte every few milliseconds. */
const FILL = "n=0; while :; do head -c 1048576 /dev/zero >f$n; n=$((n+1)); sleep 0.02; done";

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
      workspaces.open(wish("ses_hostile")),
      workspaces.open(wish("ses_victim")),
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
    const workspace = await workspaces.open(wish("ses_1"));
    for (const place of ["$TMPDIR", "$HOME"]) {
      const end = await sh(workspace, `cd ${place} && ${FILL}`);
      expect(end, place).toMatchObject({ killedBy: "quota" });
      await sh(workspace, `rm -f ${place}/f*`);
    }
  });

  it("ends a command that makes too many files", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(wish("ses_1"));
    const many = "n=0; while :; do : >f$n; n=$((n+1)); [ $n -lt 500 ] || sleep 1; done";
    const end = await sh(workspace, many);
    expect(end).toMatchObject({ killedBy: "quota" });
    expect(end.why).toMatch(/in \d+ files/);
  });

  it("finds what lies too deep for a path", async () => {
    const machine = await start(create());
    const workspace = await machine.workspaces.open(wish("ses_1"));
    const name = "d".repeat(200);
    // The disk loses what is written, as a real one does.
    const dig = `n=0; while [ $n -lt 25 ]; do mkdir ${name} && cd ${name}; n=$((n+1)); done`;
    const { running, ended } = begin(workspace, `${dig}; echo dug; while :; do sleep 0.1; done`);
    await new Promise((resolve) => running.stdout.once("data", resolve));
    machine.space = { freeBytes: 50 * GiB };
    expect(await ended).toMatchObject({ killedBy: "quota" });
    rmSync(workspace.folder, { recursive: true, force: true });
  });

  it("lets a full workspace be emptied, and written to again", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(wish("ses_1"));
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

describe("the floor of free space", () => {
  const [, create] = providers.at(-1) as (typeof providers)[number];

  it("ends what writes, spares what does not, and refuses until there is room", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const { workspaces, guard } = machine;
    const changes: boolean[] = [];
    guard.onChange(() => changes.push(guard.isLow));
    const writer = await workspaces.open(wish("ses_writer"));
    const idler = await workspaces.open(wish("ses_idler"));
    // Both must have been measured once, so that it is known who has grown.
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
    // A little above the floor is not enough: it would be low again at once.
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
    const hostile = await workspaces.open(wish("ses_hostile"));
    const victim = await workspaces.open(wish("ses_victim"));
    const stays = begin(victim, "while [ ! -e end ]; do date >now; sleep 0.02; done; echo done");
    const fills = begin(hostile, FILL);
    machine.space = { freeBytes: 1.5 * GiB };
    const end = await fills.ended;
    expect(end).toMatchObject({ killedBy: "disk" });
    expect(end.why).toMatch(/grown by \d+/);
    expect(workspaces.sandboxRefusal()).toBeNull();
    await filesOf(victim).replace("end", "now");
    expect(await stays.ended).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("spares nobody when the space goes on shrinking unseen", async () => {
    const machine = await start(create(), { bytes: 10 * GiB, files: 10_000 });
    const workspace = await machine.workspaces.open(wish("ses_1"));
    // The file is deleted while it is open: no walk finds it.
    const { ended } = begin(workspace, "exec 3>f; rm f; while :; do echo x >&3; sleep 0.05; done");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    machine.space = { freeBytes: 0.5 * GiB };
    expect(await ended).toMatchObject({ killedBy: "disk" });
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
  it("stops when it is told to", async () => {
    const folder = join(top, "many");
    mkdirSync(folder);
    for (let n = 0; n < 5_000; n++) mkdirSync(join(folder, String(n)));
    const whole = await measureFolders([folder]);
    expect(whole.files).toBe(5_000);
    const stopped = await measureFolders([folder], AbortSignal.abort());
    expect(stopped.files).toBeLessThan(5_000);
  });
});
