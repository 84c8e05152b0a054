/** Disks of the runners that a server on this machine knows, and files of its database. */
import { readDiskUse } from "#base/store/sqlite/disk-use.ts";
import type { Runner } from "#protocol/runs.ts";
import { formatBytes } from "../kit/text/terminal.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export function checkRunnerDisks(runners: readonly Runner[]): Finding[] {
  return runners.flatMap(({ name, id, disk }) => {
    if (!disk) return [];
    const { freeBytes, floorBytes, workspaces, mirrors, removed, quota } = disk;
    const { freeFiles = 0, totalFiles = 0 } = disk;
    const text = [
      `${name} (${id}): ${formatBytes(freeBytes)} free, ${formatBytes(floorBytes)} must stay free`,
      ...(totalFiles > 0 ? [`${freeFiles} of ${totalFiles} files (inodes) free`] : []),
      `${workspaces.count} workspaces ${formatBytes(workspaces.bytes)} (each ${formatBytes(quota.bytes)} and ${quota.files} files at most)`,
      `${mirrors.count} mirrors ${formatBytes(mirrors.bytes)}`,
      `${removed.count} removed ${formatBytes(removed.bytes)}`,
    ].join(", ");
    const mend = "End sessions that are done, or free space on that machine.";
    if (disk.isLow)
      return [fail("runner disk", text, `${mend} Work waits and continues by itself.`)];
    return [disk.isPressed ? warn("runner disk", text, mend) : ok("runner disk", text)];
  });
}

/** Files of a SQLite database; `path` is the main one. */
export function describeDatabaseFiles(path: string): Finding {
  const { databaseBytes, logBytes, reserveBytes, backups } = readDiskUse(path);
  return ok(
    "storage",
    [
      `database ${formatBytes(databaseBytes)}`,
      `log ${formatBytes(logBytes)}`,
      `reserve ${formatBytes(reserveBytes)}`,
      `${backups.count} backups ${formatBytes(backups.bytes)}`,
    ].join(", "),
  );
}
