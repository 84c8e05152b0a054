import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../clock.ts";
import { silentLog } from "../../log.ts";
import type { Store } from "../store.ts";
import { DiskReserve } from "./disk-reserve.ts";
import { openSqlite } from "./sqlite.ts";

const MiB = 1024 ** 2;
const MOUNT = "/bin/mount";
const UMOUNT = "/bin/umount";
const top = mkdtempSync(join(tmpdir(), "muster-reserve-"));
const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts) execFileSync(UMOUNT, ["-l", mount]);
  rmSync(top, { recursive: true, force: true });
});

/** A disk of its own, so small that it can be filled. Undefined where none may be mounted. */
function mountSmallDisk(): string | undefined {
  const folder = join(top, `disk-${mounts.length}`);
  mkdirSync(folder);
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=8m", "muster-test", folder], {
      stdio: "ignore",
    });
  } catch {
    return undefined;
  }
  mounts.push(folder);
  return folder;
}
const smallDisk = mountSmallDisk();

describe("the reserve", () => {
  it("is made where there is room, given up, and made again", async () => {
    let free = 100 * MiB;
    const path = join(top, "a.reserve");
    const reserve = new DiskReserve({ path, bytes: 3 * MiB, readFree: () => free });
    expect(() => reserve.require()).not.toThrow();
    await reserve.tend();
    expect(statSync(path).size).toBe(3 * MiB);
    expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(3 * MiB);
    // The reserve itself counts: what is missing is the room beside it.
    free = 2 * MiB;
    expect(() => reserve.require()).toThrow(/almost full/);
    expect(reserve.release()).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect(reserve.release()).toBe(false);
    await reserve.tend();
    expect(existsSync(path)).toBe(false);
    free = 6 * MiB;
    await reserve.tend();
    expect(statSync(path).size).toBe(3 * MiB);
    expect(() => reserve.require()).not.toThrow();
  });

  it("that is given up while it is made is not written on", async () => {
    const path = join(top, "b.reserve");
    const reserve = new DiskReserve({ path, bytes: 64 * MiB, readFree: () => 1024 * MiB });
    const making = reserve.tend();
    while (!existsSync(path)) await new Promise(setImmediate);
    // The file has no name any more; a link keeps its size readable.
    const link = join(top, "b.link");
    linkSync(path, link);
    reserve.release();
    await making;
    expect(statSync(link).size).toBeLessThan(16 * MiB);
    expect(existsSync(path)).toBe(false);
    await reserve.tend();
    expect(statSync(path).size).toBe(64 * MiB);
  });
});

const write = (store: Store, text: string) =>
  store.transaction((tx) =>
    tx.execute({ sql: "insert into notes (text) values (?)", parameters: [text] }),
  );

describe.skipIf(!smallDisk)("SQLite on a disk that somebody fills", () => {
  it("stores on with the reserve, is not ready meanwhile, and recovers by itself", async () => {
    const folder = smallDisk as string;
    const store = await openSqlite({
      path: join(folder, "db"),
      clock: systemClock,
      log: silentLog,
      reserveBytes: 2 * MiB,
      onSyncFailure: (error) => expect.unreachable(String(error)),
    });
    await store.migrate([
      { id: "0001", statements: () => ["create table notes (text text not null)"] },
    ]);
    await store.tend?.();
    expect(existsSync(join(folder, "db.reserve"))).toBe(true);
    await store.checkWritable();

    // Somebody else takes the rest of the disk.
    const filler = join(folder, "filler");
    execFileSync("sh", ["-c", 'cat /dev/zero >"$1" 2>/dev/null || :', "sh", filler]);
    for (let n = 0; n < 20; n++) await write(store, "x".repeat(10_000));
    expect(existsSync(join(folder, "db.reserve"))).toBe(false);
    await expect(store.checkWritable()).rejects.toMatchObject({ kind: "unavailable" });

    // The reserve too runs out; then nothing is stored, and that is said.
    const failed = async () => {
      for (let n = 0; n < 100; n++) await write(store, "x".repeat(100_000));
    };
    await expect(failed()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.checkWritable()).rejects.toMatchObject({ kind: "unavailable" });

    rmSync(filler);
    await store.checkWritable();
    await write(store, "again");
    await store.tend?.();
    expect(existsSync(join(folder, "db.reserve"))).toBe(true);
    await store.close();
  });

  it("starts on a full disk with the reserve", async () => {
    const folder = smallDisk as string;
    const filler = join(folder, "filler");
    expect(existsSync(join(folder, "db.reserve"))).toBe(true);
    execFileSync("sh", ["-c", 'cat /dev/zero >"$1" 2>/dev/null || :', "sh", filler]);
    const store = await openSqlite({
      path: join(folder, "db"),
      clock: systemClock,
      log: silentLog,
      reserveBytes: 2 * MiB,
      onSyncFailure: (error) => expect.unreachable(String(error)),
    });
    await write(store, "stored");
    await store.close();
    rmSync(filler);
  });
});
