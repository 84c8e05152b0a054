import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

// A server that is still running may yet load a chunk of the build it was started from.
const KEPT_MS = 24 * 3_600_000;

/** Removes files of earlier builds from `folder`, except recent ones. */
export async function removeLeftovers(folder: string, written: string[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    if (written.includes(path)) continue;
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true });
  }
}
