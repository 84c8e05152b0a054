/** Deletes a folder with all in it, also what was made read-only, and measures what it takes up. */
import { lstatSync } from "node:fs";
import { chmod, lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";

const MAX_ENTRIES = 500_000;
const BLOCK_BYTES = 512;

export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await openUp(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** What nobody may write to, nobody may delete from: caches of modules are made like that. */
async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name));
  }
}

/** On the disk, links not followed; what lies beyond half a million files is not counted. */
export async function measureTree(folder: string): Promise<number> {
  let bytes = 0;
  let left = MAX_ENTRIES;
  const folders = [folder];
  for (const top of folders) {
    if (left <= 0) break;
    try {
      bytes += (await lstat(top)).blocks * BLOCK_BYTES;
      for await (const entry of await opendir(top)) {
        left--;
        const path = join(top, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else bytes += lstatSync(path).blocks * BLOCK_BYTES;
      }
    } catch {
      // It went away meanwhile, or may not be read.
    }
  }
  return bytes;
}
