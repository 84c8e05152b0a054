/** Disk texts. */
import type { DatabaseUse } from "#protocol/reports/database-use.ts";
import type { Runner } from "#protocol/runs.ts";
import { plural, sizeWords } from "#surfaces/web/kit/text/money-words.ts";

type Disk = NonNullable<Runner["disk"]>;

/** Share of free inodes below which their number is shown. */
const FEW_FILES = 0.05;

/** Describes a runner's disk in one line. */
export function diskWords(disk: Disk): string {
  const { freeBytes, totalBytes, floorBytes, workspaces, mirrors, removed, quota } = disk;
  const { freeFiles = 0, totalFiles = 0 } = disk;
  return [
    `${sizeWords(freeBytes)} of ${sizeWords(totalBytes)} free, ${sizeWords(floorBytes)} reserved`,
    ...(totalFiles > 0 && freeFiles < totalFiles * FEW_FILES
      ? [`only ${freeFiles.toLocaleString("en-US")} more files fit`]
      : []),
    `${plural(workspaces.count, "workspace")}: ${sizeWords(workspaces.bytes)}, limit ${sizeWords(quota.bytes)} and ${quota.files.toLocaleString("en-US")} files each`,
    `${plural(mirrors.count, "repository copy", "repository copies")}: ${sizeWords(mirrors.bytes)}`,
    `${removed.count} removed, kept for up to a week: ${sizeWords(removed.bytes)}`,
  ].join(" · ");
}

const LOW_DISK =
  "Its disk is almost full, so it accepts no new work. Free up space or end finished sessions; work then resumes automatically.";
const PRESSED_DISK =
  "Its disk is filling up: removed workspaces are deleted early, and sessions that write the most are stopped. Free up space or end finished sessions.";

/** Returns null when there is enough space. */
export function diskProblem({ isLow, isPressed }: Disk): string | null {
  if (isLow) return LOW_DISK;
  return isPressed ? PRESSED_DISK : null;
}

export function databaseWords(use: DatabaseUse): string {
  const { databaseBytes, logBytes, reserveBytes, backups, freeBytes } = use;
  return [
    `Database ${sizeWords(databaseBytes)}, including attachments`,
    ...(logBytes > 0 ? [`log ${sizeWords(logBytes)}`] : []),
    ...(reserveBytes > 0 ? [`reserve for a full disk ${sizeWords(reserveBytes)}`] : []),
    ...(backups.count > 0
      ? [`${plural(backups.count, "backup")} ${sizeWords(backups.bytes)}`]
      : []),
    ...(freeBytes === null ? [] : [`${sizeWords(freeBytes)} free on disk`]),
  ].join(" · ");
}
