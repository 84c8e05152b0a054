import { open } from "node:fs/promises";

/** Returns when data written to the file, or a rename in the folder, would survive a power loss. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
