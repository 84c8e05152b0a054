/** The disk of a runner's machine as it is reported, stored and shown. */
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
  /** Below this nothing that writes is run. */
  floorBytes: amount,
  isLow: z.boolean(),
  /** Less than twice the floor is free: what can be made again is deleted. Older runners do not say. */
  isPressed: z.boolean().optional(),
  /** Files (inodes) that the file system can still make, and has in all; 0: no fixed number. */
  freeFiles: amount.optional(),
  totalFiles: amount.optional(),
  /** Quota of each workspace. */
  quota: z.object({ bytes: amount, files: amount }),
  /** As far as they have been measured. */
  workspaces: group,
  /** Copies of repositories that clones share. */
  mirrors: group,
  /** Workspaces of ended sessions, which can be brought back for a week. */
  removed: group,
});
export type DiskReport = z.infer<typeof diskReportSchema>;
