/** Disks in words. */
import type { DatabaseUse } from "#protocol/database-use.ts";
import type { Runner } from "#protocol/runs.ts";
import { plural, sizeWords } from "#surfaces/web/kit/money-words.ts";

type Disk = NonNullable<Runner["disk"]>;

/** One line about the disk of a runner. */
export function diskWords(disk: Disk): string {
  const { freeBytes, totalBytes, floorBytes, workspaces, mirrors, removed, quota } = disk;
  return [
    `${sizeWords(freeBytes)} of ${sizeWords(totalBytes)} free, ${sizeWords(floorBytes)} must stay free`,
    `${plural(workspaces.count, "workspace")} take up ${sizeWords(workspaces.bytes)}, each ${sizeWords(quota.bytes)} and ${quota.files.toLocaleString("en-US")} files at most`,
    `${plural(mirrors.count, "copy", "copies")} of repositories ${sizeWords(mirrors.bytes)}`,
    `${removed.count} removed, kept for a week, ${sizeWords(removed.bytes)}`,
  ].join(" · ");
}

export const LOW_DISK =
  "Its disk is almost full, so it takes no new work. Make room on it; work goes on by itself.";

export function databaseWords(use: DatabaseUse): string {
  const { databaseBytes, logBytes, reserveBytes, backups, freeBytes } = use;
  return [
    `Database ${sizeWords(databaseBytes)}, attachments included`,
    ...(logBytes > 0 ? [`log ${sizeWords(logBytes)}`] : []),
    ...(reserveBytes > 0 ? [`reserve for a full disk ${sizeWords(reserveBytes)}`] : []),
    ...(backups.count > 0
      ? [`${plural(backups.count, "backup")} ${sizeWords(backups.bytes)}`]
      : []),
    ...(freeBytes === null ? [] : [`${sizeWords(freeBytes)} free on its disk`]),
  ].join(" · ");
}
