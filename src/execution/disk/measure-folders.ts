/**
 * Measures what folders take up on the disk, a little at a time. The walk works for a few milliseconds
 * and then rests for longer, so that a workspace with a million files takes minutes instead of the
 * runner's attention.
 */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Usage {
  bytes: number;
  /** Files and folders. */
  files: number;
  /**
   * False when something could not be looked at: a folder without read permission, or one nested so
   * deep that its path is too long.
   */
  isWhole: boolean;
}

export const NO_USAGE: Usage = { bytes: 0, files: 0, isWhole: true };

const WORK_MS = 3;
const REST_MS = 12;
const BLOCK_BYTES = 512;

/** Links are not followed. Stops early, with what it has seen, when the signal aborts. */
export async function measureFolders(
  folders: readonly string[],
  signal?: AbortSignal,
): Promise<Usage> {
  const usage = { ...NO_USAGE };
  const open = [...folders];
  const seen = new Set<string>();
  let restAt = performance.now() + WORK_MS;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(folder, usage)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      count(path, usage, seen);
      if (performance.now() < restAt) continue;
      await sleep(REST_MS);
      if (signal?.aborted) return usage;
      restAt = performance.now() + WORK_MS;
    }
  }
  return usage;
}

function entriesOf(folder: string, usage: Usage): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isHidden(error)) usage.isWhole = false;
    return [];
  }
}

function count(path: string, usage: Usage, seen: Set<string>): void {
  try {
    const { blocks, nlink, dev, ino } = lstatSync(path);
    // A file with two names takes its room once.
    if (nlink > 1) {
      const id = `${dev}:${ino}`;
      if (seen.has(id)) return;
      seen.add(id);
    }
    usage.files += 1;
    usage.bytes += blocks * BLOCK_BYTES;
  } catch (error) {
    if (isHidden(error)) usage.isWhole = false;
  }
}

/** Gone meanwhile is not hidden. */
function isHidden(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== "ENOENT" && code !== "ENOTDIR";
}
