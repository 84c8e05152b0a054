/** Writes a consistent copy of a database, even while it is being written to. */
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { Refusal } from "#base/refusal.ts";
import { findDamage, openReadOnly } from "./sqlite-file.ts";
import { syncPath } from "./sync-file.ts";

/** Never overwrites. The copy is complete and on the disk when this returns; on failure it is removed. */
export async function copyDatabase(from: Database.Database, to: string): Promise<void> {
  await createPrivateFile(to);
  try {
    from.prepare("vacuum into ?").run(to);
    const copy = openReadOnly(to);
    const damage = findDamage(copy);
    copy.close();
    if (damage.length > 0) {
      throw new Refusal(
        "invalid",
        "copy_damaged",
        `The backup is incomplete (${damage[0]}). The database may be damaged; run: muster doctor`,
      );
    }
    await syncPath(to);
    await syncPath(dirname(to));
  } catch (error) {
    await rm(to, { force: true });
    throw fullDisk(error, to) ?? error;
  }
}

/** Creates the file before it is filled, so that others can never read it, and only if none exists. */
async function createPrivateFile(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new Refusal("conflict", "file_exists", `${path} already exists. Name another file.`);
    }
    throw new Refusal("invalid", "file_not_writable", `${path} cannot be written: ${message}.`, {
      cause: error,
    });
  }
}

function fullDisk(error: unknown, path: string): Refusal | undefined {
  if (!String((error as { code?: unknown }).code).startsWith("SQLITE_FULL")) return undefined;
  return new Refusal(
    "unavailable",
    "disk_full",
    `There is not enough space for ${path}. Nothing was changed.`,
    { cause: error },
  );
}
