/** Deletes a folder with all in it, also what was made read-only. */
import { chmod, opendir, rm } from "node:fs/promises";
import { join } from "node:path";

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
