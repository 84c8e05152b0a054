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
import { DEFAULT_LIMITS } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/repository-address.ts";
import { listRecordFiles } from "./pack-record.ts";
import type { Workspace, Workspaces } from "./workspace.ts";
import { createWorkspaces } from "./workspaces.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const top = mkdtempSync(join(tmpdir(), "muster-housekeeping-"));
const started: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of started) await workspaces.close();
  rmSync(top, { recursive: true, force: true });
});

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;

async function start(folder = join(top, String(count++))) {
  mkdirSync(folder, { recursive: true });
  const clock = new FakeClock(Date.now());
  const disk = { isPressed: false };
  const guard = new DiskGuard({
    folder,
    settings: { ...DEFAULT_DISK, floorBytes: 1 },
    log: quiet,
    readSpace: (of) => ({ ...readSpace(of), ...(disk.isPressed ? { freeBytes: 1 } : {}) }),
  });
  const workspaces = await createWorkspaces({
    folder,
    sandboxProvider: createLocal({ path: PATH }),
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    disk: guard,
    clock,
    ids: createIds(),
    log: quiet,
  });
  started.push(workspaces);
  return { workspaces, folder, clock, disk };
}

function makeRepository(): string {
  const folder = join(top, `repository-${count++}`);
  const script = `git init -q "$1" && cd "$1" && echo one >a && git add . &&
    git -c user.name=a -c user.email=a@b.invalid commit -qm first`;
  execFileSync("sh", ["-c", script, "sh", folder], { env: { PATH } });
  return folder;
}

const wish = (sessionId: string, repo?: string) => ({
  sessionId,
  repository: repo === undefined ? null : storedRepositoryAddress(repo),
  branch: null,
  projectDir: null,
  mayUsePath: true,
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
      const workspace = await workspaces.open(wish(sessionId));
      await sh(workspace, fill);
      await workspace.snapshot();
      records.push(join(folder, "workspaces", workspace.id, "keep.git"));
    }
    await workspaces.hibernate("ses_asleep");
    for (const record of records) expect(listRecordFiles(record).loose.length).toBeGreaterThan(300);
    await workspaces.tend();
    for (const record of records)
      expect(listRecordFiles(record)).toMatchObject({ loose: [], packs: 1 });
    const again = await workspaces.open(wish("ses_asleep"));
    await again.mark("turn");
    expect(existsSync(join(again.folder, "f299"))).toBe(true);
  }, 30_000);

  it("deletes a mirror that no workspace rests on, some days after its last use", async () => {
    const { workspaces, folder, clock } = await start();
    const mirrors = join(folder, "mirrors");
    await workspaces.open(wish("ses_1", makeRepository()));
    await workspaces.open(wish("ses_2", makeRepository()));
    age(mirrors, 8 * DAY_MS);
    await workspaces.tend();
    // Both sessions still rest on theirs.
    expect(readdirSync(mirrors)).toHaveLength(2);
    await workspaces.remove("ses_1");
    await workspaces.tend();
    // It can be brought back for a week.
    expect(readdirSync(mirrors)).toHaveLength(2);
    clock.advance(8 * DAY_MS);
    await workspaces.tend();
    expect(readdirSync(mirrors)).toHaveLength(1);
    expect(readdirSync(join(folder, "removed"))).toEqual([]);
    const kept = await workspaces.open(wish("ses_2", "ignored"));
    await kept.mark("turn");
  }, 30_000);

  it("deletes it sooner when the disk runs full", async () => {
    const { workspaces, folder, clock, disk } = await start();
    const mirrors = join(folder, "mirrors");
    await workspaces.open(wish("ses_1", makeRepository()));
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
    const workspace = await workspaces.open(wish("ses_1"));
    await sh(workspace, "head -c 3000000 /dev/zero >big");
    await workspace.diskBytes();
    await workspaces.open(wish("ses_2", makeRepository()));
    await workspaces.open(wish("ses_3"));
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
});
