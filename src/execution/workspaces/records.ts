/**
 * The runner's record of each workspace: one file in its folder, written atomically. A folder
 * without one was never finished, and is removed at the next start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const recordSchema = z.object({
  version: z.literal(1),
  id: z.string().regex(/^wsp_[0-9a-z]+$/),
  sessionId: z.string(),
  /** Owner of the session; their workspaces share a limit. */
  ownerId: z.string().nullable().default(null),
  origin: z.enum(["empty", "folder", "git"]),
  /** Real path at the beginning; a folder that has since become another is not used. */
  projectDir: z.string().nullable(),
  /** `device:inode` of that folder. */
  folderIdentity: z.string().nullable().default(null),
  branch: z.string().nullable(),
  /** Name of the store of objects that a clone shares with others of the same address. */
  mirror: z.string().nullable(),
  createdAt: z.number(),
  removedAt: z.number().nullable(),
});
export type WorkspaceRecord = z.infer<typeof recordSchema>;

const FILE = "workspace.json";
/** Prefix of folders that are being deleted. An interrupted deletion is finished later. */
export const DELETING = ".deleting-";

export async function writeRecord(folder: string, record: WorkspaceRecord): Promise<void> {
  const file = join(folder, FILE);
  const handle = await open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(record, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  renameSync(`${file}.new`, file);
  await syncFolder(folder);
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** All records below `folder`, and the names of folders that have none or are being deleted. */
export function scanRecords(folder: string): { records: WorkspaceRecord[]; unfinished: string[] } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const records: WorkspaceRecord[] = [];
  const unfinished: string[] = [];
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, FILE);
    if (name.startsWith(DELETING) || !existsSync(file)) unfinished.push(name);
    else records.push(recordSchema.parse(JSON.parse(readFileSync(file, "utf8"))));
  }
  return { records, unfinished };
}
