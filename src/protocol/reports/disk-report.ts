/** Disk of a runner's machine as reported, stored and shown. */
import * as z from "zod";

/** Refusal code of a runner whose disk is almost full; a turn waits with it until there is room. */
export const DISK_LOW = "disk_low";
/** Refusal code of a workspace that has reached its quota. */
export const WORKSPACE_FULL = "workspace_full";

const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const group = z.object({ count: amount, bytes: amount });

export const diskReportSchema = z.object({
  freeBytes: amount,
  totalBytes: amount,
  /** Free space below which nothing that writes is run. */
  floorBytes: amount,
  isLow: z.boolean(),
  /**
   * True with less than twice the floor free: files that can be made again are deleted. Older
   * runners omit it.
   */
  isPressed: z.boolean().optional(),
  /** Files (inodes) that the file system can still make, and has in all; 0 for no fixed number. */
  freeFiles: amount.optional(),
  totalFiles: amount.optional(),
  /** Quota of each workspace. */
  quota: z.object({ bytes: amount, files: amount }),
  /** Workspaces measured so far. */
  workspaces: group,
  /** Copies of repositories that clones share. */
  mirrors: group,
  /** Workspaces of ended sessions, which can be brought back for a week. */
  removed: group,
});
export type DiskReport = z.infer<typeof diskReportSchema>;
