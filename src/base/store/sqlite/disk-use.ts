/** Measures the files of a SQLite database. */
import { readdirSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StoreUse } from "../store.ts";

export function readDiskUse(path: string): StoreUse {
  const folder = dirname(path);
  const copies = readdirSync(folder).filter(
    (name) => name.startsWith(`${basename(path)}.before-`) && name.endsWith(".bak"),
  );
  const { bavail, bsize } = statfsSync(folder);
  return {
    databaseBytes: sizeOf(path),
    logBytes: sizeOf(`${path}-wal`),
    reserveBytes: sizeOf(`${path}.reserve`),
    backups: {
      count: copies.length,
      bytes: copies.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0),
    },
    freeBytes: bavail * bsize,
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
