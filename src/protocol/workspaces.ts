/** Changes of an agent to its workspace, as clients see them. */
import * as z from "zod";
import { countSchema } from "./bounds.ts";
import { isoTime } from "./page.ts";

export const fileChangeSchema = z
  .object({
    path: z.string(),
    status: z.enum(["added", "modified", "deleted", "renamed"]),
    /** Previous path of a renamed file. */
    from: z.string().nullable(),
    additions: countSchema,
    deletions: countSchema,
    binary: z.boolean(),
    /** Unified diff; null when the file is binary or the diff too long to show. */
    patch: z.string().nullable(),
    /** False when the file is not UTF-8: its patch can be read, but not applied. */
    isExact: z.boolean().optional(),
  })
  .meta({ id: "FileChange" });
export type FileChange = z.infer<typeof fileChangeSchema>;

/** Patch of a change that can be applied elsewhere; null when there is none. */
export function exactPatch({ patch, isExact = true }: FileChange): string | null {
  return isExact ? patch : null;
}

export const workspaceChangesSchema = z
  .object({
    files: z.array(fileChangeSchema),
    /** Files that changed but are not listed, because there are too many. */
    more: countSchema,
    additions: countSchema,
    deletions: countSchema,
  })
  .meta({ id: "WorkspaceChanges" });
export type WorkspaceChanges = z.infer<typeof workspaceChangesSchema>;

/** Author of an agent's commits. Clean: nothing in it ends a line or an address. */
export interface GitIdentity {
  name: string;
  email: string;
}

/**
 * Access to a session's repository. The server sends it to the runner that holds the session's run,
 * which passes it to git and to the git host's API; never to a sandbox, a file, a journal or a log.
 */
export interface RepositoryAccess {
  fullName: string;
  provider: "github" | "git";
  /** Address of the repository in the organisation's own list. */
  url: string;
  /** Null for the default branch of the repository itself. */
  defaultBranch: string | null;
  /** Null when none is needed, or none was given. */
  credential: { secret: string; username: string; password: string } | null;
  /** API where pull requests are opened; null when there is none. */
  apiUrl: string | null;
}

export const MAX_LISTED_FILES = 300;
export const MAX_PATCH_CHARS = 64_000;
export const MAX_PATCHES_CHARS = 500_000;

export const shownFileSchema = z
  .object({ path: z.string(), mediaType: z.string(), size: z.number().int(), updatedAt: isoTime })
  .meta({ id: "ShownFile" });
export type ShownFile = z.infer<typeof shownFileSchema>;

export const sessionChangesSchema = workspaceChangesSchema
  .extend({
    /** Turns that changed something, oldest first. */
    turns: z.array(z.object({ promptId: z.string(), at: isoTime })),
    /** Files that can be shown in a page of their own. */
    shown: z.array(shownFileSchema),
    diskBytes: z.number().int(),
    /** Limit of the workspace's disk use; null when its runner has not reported one. */
    diskQuotaBytes: z.number().int().nullable(),
    updatedAt: isoTime.nullable(),
  })
  .meta({ id: "SessionChanges" });
export type SessionChanges = z.infer<typeof sessionChangesSchema>;
