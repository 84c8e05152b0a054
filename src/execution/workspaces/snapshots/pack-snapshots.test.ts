import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type Sandbox } from "#execution/sandboxes/sandbox.ts";
import { createSnapshotStore, type SnapshotStore } from "./snapshot-store.ts";

const top = mkdtempSync(join(tmpdir(), "muster-pack-"));
const sandboxes: Sandbox[] = [];
afterAll(async () => {
  for (const sandbox of sandboxes) await sandbox.close();
  rmSync(top, { recursive: true, force: true });
});

const TURNS = 36;
const FILES_A_TURN = 12;
let count = 0;

interface Place {
  keep: SnapshotStore;
  folder: string;
  workFolder: string;
  /** Kills the next command that packs, so many milliseconds after its start. */
  killAfterMs: number | null;
  isFull: boolean;
}

async function makeRecord(): Promise<Place> {
  const home = join(top, String(count++));
  const [folder, workFolder] = [join(home, "keep.git"), join(home, "work")];
  for (const made of [folder, workFolder]) mkdirSync(made, { recursive: true });
  const sandbox = await createLocal({ path: "/usr/local/bin:/usr/bin:/bin" }).open({
    workspaceFolder: workFolder,
    scratchFolder: join(home, "scratch"),
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  });
  sandboxes.push(sandbox);
  const place: Place = {
    keep: undefined as never,
    folder,
    workFolder,
    killAfterMs: null,
    isFull: false,
  };
  const killing: Sandbox = {
    ...sandbox,
    run(command) {
      const running = sandbox.run(command);
      const isPacking = command.argv.some((word) => word.includes("prune-packed"));
      if (isPacking && place.killAfterMs !== null)
        setTimeout(() => running.kill(), place.killAfterMs);
      return running;
    },
  };
  place.keep = createSnapshotStore({
    folder,
    workFolder,
    insideFolder: folder,
    insideWorkFolder: workFolder,
    sandbox: async () => killing,
    isFull: () => place.isFull,
  });
  await place.keep.begin({ isEmpty: true, alternates: null, commit: null });
  return place;
}

/** Plays one turn with a command; its files are new and `00-state` changes every time. */
async function playTurn({ keep, workFolder }: Place, turn: number): Promise<void> {
  await keep.mark(`turn ${turn}`);
  writeFileSync(join(workFolder, "00-state"), `after turn ${turn}\n`);
  for (let n = 1; n < FILES_A_TURN; n++)
    writeFileSync(join(workFolder, `${turn}-${n}`), `${turn} ${n}\n`);
  await keep.changes(`turn ${turn}`);
}

/** Counts the files of the record, without its folders. */
function countFiles(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
    .length;
}

function git(folder: string, ...args: string[]): string {
  return execFileSync("git", [`--git-dir=${folder}`, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
}

async function expectWholeHistory(place: Place, turns: number): Promise<void> {
  // Fails when any object that a mark leads to is missing.
  git(place.folder, "rev-list", "--objects", "--all");
  for (let turn = 1; turn < turns; turn += 5) {
    // A mark shows the state that the turn before it left.
    const { turn: since } = await place.keep.changes(`turn ${turn}`);
    const state = since.files.find(({ path }) => path === "00-state");
    expect(state?.patch, `turn ${turn}`).toContain(`-after turn ${turn - 1}`);
  }
}

describe("packing the record of a workspace", () => {
  it("keeps the number of its files bounded, with all history readable", async () => {
    const place = await makeRecord();
    let most = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      await playTurn(place, turn);
      await place.keep.pack();
      most = Math.max(most, countFiles(place.folder));
    }
    // Unpacked it would be more than 500 and grow by 15 with each turn.
    expect(most).toBeLessThan(400);
    expect(countFiles(place.folder)).toBeLessThan(350);
    await expectWholeHistory(place, TURNS);
  }, 120_000);

  it("loses nothing when it is killed at any point, and packs the next time", async () => {
    const place = await makeRecord();
    for (let turn = 0; turn < TURNS; turn++) await playTurn(place, turn);
    for (const afterMs of [0, 2, 5, 10, 15, 20, 30, 40, 60, 80]) {
      place.killAfterMs = afterMs;
      await place.keep.pack().catch(() => {});
    }
    await expectWholeHistory(place, TURNS);
    place.killAfterMs = null;
    await place.keep.pack();
    expect(countFiles(place.folder)).toBeLessThan(350);
    expect(readdirSync(join(place.folder, "objects/pack")).join(" ")).not.toContain("tmp_");
    await expectWholeHistory(place, TURNS);
  }, 120_000);

  it("records nothing more when it takes up all it may, and goes on later", async () => {
    const place = await makeRecord();
    await playTurn(place, 0);
    place.isFull = true;
    await playTurn(place, 1);
    const files = countFiles(place.folder);
    await playTurn(place, 2);
    // Only a mark was added: no new state.
    expect(countFiles(place.folder)).toBeLessThanOrEqual(files + 1);
    place.isFull = false;
    await place.keep.mark("later");
    expect(countFiles(place.folder)).toBeGreaterThan(files + 10);
  }, 60_000);

  it("stops packing when it is told to", async () => {
    const place = await makeRecord();
    for (let turn = 0; turn < TURNS; turn++) await playTurn(place, turn);
    await place.keep.pack(AbortSignal.abort());
    expect(countFiles(place.folder)).toBeGreaterThan(400);
  }, 120_000);

  it("makes way for a turn", async () => {
    const place = await makeRecord();
    for (let turn = 0; turn < TURNS; turn++) await playTurn(place, turn);
    const order: string[] = [];
    const packing = place.keep.pack().then(() => order.push("packed"));
    const marking = place.keep.mark("next").then(() => order.push("marked"));
    await Promise.all([packing, marking]);
    expect(order).toEqual(["packed", "marked"]);
    // Packing was given up, so all objects are still loose.
    expect(countFiles(place.folder)).toBeGreaterThan(400);
    await expectWholeHistory(place, TURNS);
  }, 120_000);
});
