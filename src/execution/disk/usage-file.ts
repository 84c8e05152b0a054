/** Last measured figures of a workspace, in a file beside it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const usageSchema = z.object({
  bytes: z.number(),
  files: z.number(),
  /** Size of the snapshots, which the quota does not count. */
  recordBytes: z.number().default(0),
  /** Usage assumed in folders that cannot be measured; counted in `bytes` and `files`. */
  hidden: z.object({ bytes: z.number(), files: z.number() }).default({ bytes: 0, files: 0 }),
  /** Space that a project folder took up before the session began; none of it counts. */
  before: z.object({ bytes: z.number(), files: z.number() }).nullable(),
});
export type StoredUsage = z.infer<typeof usageSchema>;

const FILE = "usage.json";

/** Null when the workspace was never measured, or the file was cut short. */
export function readUsage(folder: string): StoredUsage | null {
  try {
    const parsed = usageSchema.safeParse(JSON.parse(readFileSync(join(folder, FILE), "utf8")));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

export function writeUsage(folder: string, usage: StoredUsage): void {
  try {
    writeFileSync(join(folder, FILE), JSON.stringify(usage), { mode: 0o600 });
  } catch {
    // The disk is full, or the folder is gone: the workspace is measured again.
  }
}
