import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { DEFAULT_DISK, DiskGuard } from "#execution/disk/disk-guard.ts";
import { readSpace } from "#execution/disk/space.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { listSnapshotFiles } from "./snapshots/pack-snapshots.ts";
import type { Workspace, Workspaces } from "./workspace.ts";
import { createWorkspaces } from "./workspaces.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const top = mkdtempSync(join(tmpdir(), "muster-housekeeping-"));
const started: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of started) await workspaces.close();
  // Some folders may be nested too deep for Node.
  execFileSync("/bin/rm", ["-rf", top]);
});

/** Nested folders, deeper than a path can express; made by Perl, because a shell cannot go there. */
const DIG = `for (1..30) { mkdir "d" x 200; chdir "d" x 200 or die; } open F, ">f";`;
function digIn(folder: string): void {
  execFileSync("/usr/bin/perl", ["-e", DIG], { cwd: folder });
}

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;

async function start(folder = join(top, String(count++))) {
  mkdirSync(folder, { recursive: true });
  const clock = new FakeClock(Date.now());
  const disk = { isPressed: false, totalBytes: 1000 * 1024 ** 3 };
  const guard = new DiskGuard({
    folder,
    settings: { ...DEFAULT_DISK, floorBytes: 1 },
    log: quiet,
    readSpace: (of) => ({
      ...readSpace(of),
      totalBytes: disk.totalBytes,
      ...(disk.isPressed ? { freeBytes: 1 } : {}),
    }),
  });
  const packing = { takes: [] as string[], onBegin: () => {} };
  const local = createLocal({ path: PATH });
  const provider: SandboxProvider = {
    ...local,
    async open(spec) {
      const sandbox = await local.open(spec);
      return {
        ...sandbox,
        run(command) {
          const isPacking = command.argv.some((word) => word.includes("prune-packed"));
          if (isPacking) packing.onBegin();
          return sandbox.run(
            isPacking && packing.takes.length > 0 ? { ...command, argv: packing.takes } : command,
          );
        },
      };
    },
  };
  const workspaces = await createWorkspaces({
    folder,
    sandboxProvider: provider,
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    disk: guard,
    clock,
    ids: createIds(),
    log: quiet,
  });
  started.push(workspaces);
  return { workspaces, folder, clock, disk, packing };
}

function makeRepository(bytes = 4): string {
  const folder = join(top, `repository-${count++}`);
  const script = `git init -q "$1" && cd "$1" && head -c ${bytes} /dev/urandom >a && git add . &&
    git -c user.name=a -c user.email=a@b.invalid commit -qm first`;
  execFileSync("sh", ["-c", script, "sh", folder], { env: { PATH } });
  return folder;
}

const request = (sessionId: string, repo?: string) => ({
  sessionId,
  repository: repo === undefined ? null : storedRepositoryAddress(repo),
  branch: null,
  projectDir: null,
  mayUsePath: true,
  ownerId: "usr_1",
});

async function sh(workspace: Workspace, script: string): Promise<void> {
  const running = workspace.sandbox.run({ argv: ["/bin/sh", "-c", script] });
  running.stdin.end();
  running.stdout.resume();
  running.stderr.resume();
  await running.ended;
}

function age(mirrors: string, ms: number): void {
  for (const name of readdirSync(mirrors)) {
    const at = new Date(Date.now() - ms);
    utimesSync(join(mirrors, name), at, at);
  }
}

describe("housekeeping of a runner", () => {
  it("packs the record of a workspace that rests, open or not", async () => {
    const { workspaces, folder } = await start();
    const fill = "n=0; while [ $n -lt 300 ]; do echo $n >f$n; n=$((n+1)); done";
    const records: string[] = [];
    for (const sessionId of ["ses_open", "ses_asleep"]) {
      const workspace = await workspaces.open(request(sessionId));
      await sh(workspace, fill);
      await workspace.snapshot();
      records.push(join(folder, "workspaces", workspace.id, "keep.git"));
    }
    await workspaces.hibernate("ses_asleep");
    for (const record of records)
      expect(listSnapshotFiles(record).loose.length).toBeGreaterThan(300);
    await workspaces.tend();
    for (const record of records)
      expect(listSnapshotFiles(record)).toMatchObject({ loose: [], packs: 1 });
    const again = await workspaces.open(request("ses_asleep"));
    await again.mark("turn");
    expect(existsSync(join(again.folder, "f299"))).toBe(true);
  }, 30_000);

  it("deletes a mirror that no workspace rests on, some days after its last use", async () => {
    const { workspaces, folder, clock } = await start();
    const mirrors = join(folder, "mirrors");
    await workspaces.open(request("ses_1", makeRepository()));
    await workspaces.open(request("ses_2", makeRepository()));
    age(mirrors, 8 * DAY_MS);
    await workspaces.tend();
    // Both sessions still need their mirrors.
    expect(readdirSync(mirrors)).toHaveLength(2);
    await workspaces.remove("ses_1");
    await workspaces.tend();
    // The removed workspace can be brought back for a week.
    expect(readdirSync(mirrors)).toHaveLength(2);
    clock.advance(8 * DAY_MS);
    await workspaces.tend();
    expect(readdirSync(mirrors)).toHaveLength(1);
    expect(readdirSync(join(folder, "removed"))).toEqual([]);
    const kept = await workspaces.open(request("ses_2", "ignored"));
    await kept.mark("turn");
  }, 30_000);

  it("deletes it sooner when the disk runs full", async () => {
    const { workspaces, folder, clock, disk } = await start();
    const mirrors = join(folder, "mirrors");
    await workspaces.open(request("ses_1", makeRepository()));
    await workspaces.remove("ses_1");
    clock.advance(8 * DAY_MS);
    age(mirrors, 2 * HOUR_MS - 8 * DAY_MS);
    await workspaces.tend();
    expect(readdirSync(mirrors)).toHaveLength(1);
    disk.isPressed = true;
    await workspaces.tend();
    expect(readdirSync(mirrors)).toEqual([]);
  }, 30_000);

  it("reports what it holds, and knows it again after a restart", async () => {
    const first = await start();
    const { workspaces, folder } = first;
    const workspace = await workspaces.open(request("ses_1"));
    await sh(workspace, "head -c 3000000 /dev/zero >big");
    await workspace.diskBytes();
    await workspaces.open(request("ses_2", makeRepository()));
    await workspaces.open(request("ses_3"));
    await workspaces.remove("ses_3");
    await workspaces.tend();
    const report = workspaces.diskReport();
    expect(report).toMatchObject({
      isLow: false,
      floorBytes: 1,
      workspaces: { count: 2 },
      mirrors: { count: 1 },
      removed: { count: 1 },
    });
    expect(report.workspaces.bytes).toBeGreaterThan(3_000_000);
    expect(report.mirrors.bytes).toBeGreaterThan(10_000);
    await workspaces.close();
    const second = await start(folder);
    await second.workspaces.tend();
    const { bytes } = second.workspaces.diskReport().workspaces;
    expect(bytes).toBeGreaterThan(3_000_000);
  }, 30_000);

  it("charges the copy of a repository to the person who works on it", async () => {
    const { workspaces, clock, disk } = await start();
    await workspaces.open(request("ses_1", makeRepository(6_000_000)));
    await workspaces.tend();
    clock.advance(2_000);
    // More than the workspace alone, less than both.
    disk.totalBytes = 20_000_000;
    await expect(workspaces.open(request("ses_2"))).rejects.toMatchObject({
      code: "workspace_full",
    });
    await workspaces.open({ ...request("ses_3"), ownerId: "usr_2" });
  }, 30_000);

  it("deletes what is nested too deep for a path, and what a deletion left behind", async () => {
    const { workspaces, folder, clock } = await start();
    const removed = join(folder, "removed");
    const workspace = await workspaces.open(request("ses_1"));
    digIn(workspace.folder);
    await workspaces.remove("ses_1");
    // State after a kill in the middle of deleting.
    mkdirSync(join(removed, "wsp_half"));
    mkdirSync(join(removed, ".deleting-wsp_other"));
    await workspaces.tend();
    expect(readdirSync(removed)).toEqual([workspace.id]);
    clock.advance(8 * DAY_MS);
    await workspaces.tend();
    expect(readdirSync(removed)).toEqual([]);
  }, 30_000);

  it("starts with an unfinished workspace that is nested too deep", async () => {
    const { workspaces, folder } = await start();
    const unfinished = join(folder, "workspaces", "wsp_unfinished");
    mkdirSync(unfinished);
    digIn(unfinished);
    await workspaces.close();
    await start(folder);
    expect(existsSync(unfinished)).toBe(false);
  }, 30_000);

  it("packs the other records when one cannot be packed", async () => {
    const { workspaces, folder } = await start();
    const fill = "n=0; while [ $n -lt 300 ]; do echo $n >f$n; n=$((n+1)); done";
    const records: string[] = [];
    const project = join(top, `project-${count++}`);
    mkdirSync(project);
    for (const [sessionId, projectDir] of [
      ["ses_moved", project],
      ["ses_other", null],
    ] as const) {
      const workspace = await workspaces.open({ ...request(sessionId), projectDir });
      await sh(workspace, fill);
      await workspace.snapshot();
      await workspaces.hibernate(sessionId);
      records.push(join(folder, "workspaces", workspace.id, "keep.git"));
    }
    // The workspace cannot be opened any more.
    rmSync(project, { recursive: true });
    await workspaces.tend();
    const [moved = "", other = ""] = records;
    expect(listSnapshotFiles(moved).loose.length).toBeGreaterThan(300);
    expect(listSnapshotFiles(other).loose).toEqual([]);
  }, 30_000);

  it("opens a sleeping workspace at once, though its record is being packed", async () => {
    const { workspaces, packing } = await start();
    const workspace = await workspaces.open(request("ses_1"));
    await sh(workspace, "n=0; while [ $n -lt 300 ]; do echo $n >f$n; n=$((n+1)); done");
    await workspace.snapshot();
    await workspaces.hibernate("ses_1");
    // Longer than anybody waits.
    packing.takes = ["/bin/sleep", "600"];
    const begun = new Promise<void>((resolve) => {
      packing.onBegin = resolve;
    });
    const tending = workspaces.tend();
    await begun;
    await workspaces.open(request("ses_1"));
    await tending;
    await workspaces.hibernate("ses_1");
  }, 30_000);

  it("knows a workspace that comes back before its folder has moved", async () => {
    const { workspaces, folder } = await start();
    const { id } = await workspaces.open(request("ses_1"));
    await workspaces.remove("ses_1");
    const restoring = workspaces.restore("ses_1");
    while (!existsSync(join(folder, "workspaces", id))) await Promise.resolve();
    // Otherwise the mirror that it needs could be deleted now.
    expect(workspaces.holds("ses_1")).toBe(true);
    expect(await restoring).toBe(true);
  });

  it("deletes removed workspaces early when the disk runs full", async () => {
    const { workspaces, folder, disk } = await start();
    await workspaces.open(request("ses_1"));
    await workspaces.remove("ses_1");
    await workspaces.tend();
    expect(readdirSync(join(folder, "removed"))).toHaveLength(1);
    disk.isPressed = true;
    await workspaces.tend();
    expect(readdirSync(join(folder, "removed"))).toEqual([]);
    expect(await workspaces.restore("ses_1")).toBe(false);
  }, 30_000);

  it("gives one person no more than half of the disk, with archived and removed sessions", async () => {
    const { workspaces, folder, disk, clock } = await start();
    const fill = (sessionId: string) =>
      workspaces.open(request(sessionId)).then(async (workspace) => {
        await sh(workspace, "head -c 6000000 /dev/zero >big");
        await workspace.diskBytes();
        return workspace;
      });
    await fill("ses_1");
    await workspaces.remove("ses_1");
    await fill("ses_2");
    await workspaces.hibernate("ses_2");
    clock.advance(2_000);
    // The removed one makes room for the next.
    disk.totalBytes = 23_000_000;
    await workspaces.open(request("ses_3"));
    expect(readdirSync(join(folder, "removed"))).toEqual([]);
    clock.advance(2_000);
    disk.totalBytes = 12_000_000;
    await expect(workspaces.open(request("ses_4"))).rejects.toMatchObject({
      code: "workspace_full",
    });
    // Another person is not affected.
    await workspaces.open({ ...request("ses_5"), ownerId: "usr_2" });
    await workspaces.remove("ses_2");
    clock.advance(2_000);
    await workspaces.open(request("ses_4"));
  }, 30_000);
});
