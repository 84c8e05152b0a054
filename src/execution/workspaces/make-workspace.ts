/** Creates a new workspace for a session's request. An unfinished workspace is removed again. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { holdProjectFolder } from "./folders/check-project-folder.ts";
import type { HeldFolder } from "./folders/held-folder.ts";
import { removeTree } from "./folders/remove-tree.ts";
import {
  type OpenOptions,
  type OpenWorkspace,
  openWorkspace,
  workFolderOf,
} from "./open-workspace.ts";
import { syncFolder, type WorkspaceRecord, writeRecord } from "./records.ts";
import { type CloneResult, cloneRepository, mirrorMount } from "./repository/clone.ts";
import {
  branchFor,
  checkBranch,
  pathNotGranted,
  requireUsable,
  type UsableRepository,
} from "./repository/repository-rules.ts";
import type { WorkspaceRequest } from "./workspace.ts";

export type MakeOptions = OpenOptions;

export interface NewWorkspace {
  id: string;
  folder: string;
  now: number;
}

export interface WorkspacePlan {
  /** Folder of the project. Closed with the workspace, or by `makeWorkspace` if there is to be none. */
  held: HeldFolder | null;
  repository: UsableRepository | null;
  branch: string | null;
}

export async function makeWorkspace(
  created: NewWorkspace,
  request: WorkspaceRequest,
  plan: WorkspacePlan,
  options: MakeOptions,
): Promise<{ record: WorkspaceRecord; workspace: OpenWorkspace }> {
  try {
    mkdirSync(created.folder, { recursive: true, mode: 0o700 });
    return await createAndOpen(created, request, plan, options);
  } catch (error) {
    plan.held?.close();
    // Files that cannot be deleted now are deleted at the next start; the reason matters more.
    await removeTree(created.folder).catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses a folder of this machine that the server did not grant. The runner's own project folder
 * needs no grant: whoever started the runner named it.
 */
export function requireGranted(
  { projectDir, repository, mayUsePath }: WorkspaceRequest,
  ownProject: string | undefined,
): void {
  if (mayUsePath) return;
  if (projectDir !== null ? projectDir !== ownProject : repository?.kind === "path") {
    throw pathNotGranted();
  }
}

/** Plans a workspace: every refusal comes before anything is made. */
export function planWorkspace(
  request: WorkspaceRequest,
  { folderRules }: MakeOptions,
): WorkspacePlan {
  if (request.projectDir !== null) {
    const held = holdProjectFolder(request.projectDir, folderRules);
    return { held, repository: null, branch: null };
  }
  if (request.repository === null) return { held: null, repository: null, branch: null };
  const branch = request.branch === null ? null : checkBranch(request.branch);
  return { held: null, repository: requireUsable(request.repository, request.mayUsePath), branch };
}

async function createAndOpen(
  created: NewWorkspace,
  request: WorkspaceRequest,
  plan: WorkspacePlan,
  options: MakeOptions,
) {
  const { id, folder, now } = created;
  const { held } = plan;
  const { sessionId } = request;
  const cloned = await createWorkFolder(created, request, plan, options);
  const record: WorkspaceRecord = {
    version: 1,
    id,
    sessionId,
    ownerId: request.ownerId ?? null,
    origin: held ? "folder" : cloned ? "git" : "empty",
    projectDir: held?.path ?? null,
    folderIdentity: held?.identity ?? null,
    branch: cloned ? branchFor(sessionId) : null,
    mirror: cloned?.mirror ?? null,
    createdAt: now,
    removedAt: null,
  };
  const workspace = await openWorkspace(folder, record, held, options);
  try {
    const mount = cloned && mirrorMount(options.provider, options.mirrorsFolder, cloned.mirror);
    await workspace.snapshots.begin({
      isEmpty: record.origin === "empty",
      alternates: mount && `${mount.to}/objects`,
      commit: cloned?.commit ?? null,
    });
    await writeRecord(folder, record);
    await syncFolder(dirname(folder));
  } catch (error) {
    await workspace.close();
    throw error;
  }
  return { record, workspace };
}

async function createWorkFolder(
  { id, folder }: NewWorkspace,
  {
    sessionId,
    ownerId = null,
    access = async () => null,
    identity = null,
    signal,
  }: WorkspaceRequest,
  { held, repository, branch }: WorkspacePlan,
  options: MakeOptions,
): Promise<CloneResult | null> {
  if (held) return null;
  const workFolder = workFolderOf(folder, { projectDir: null });
  mkdirSync(workFolder, { recursive: true });
  if (!repository) return null;
  const request = {
    repository,
    branch,
    newBranch: branchFor(sessionId),
    access,
    identity,
    workFolder,
    scratchFolder: join(folder, "git-scratch"),
    signal: signal ?? options.closing,
    personLeft: () => options.meters.personLeft({ id, ownerId }),
    mirrorRequested: (mirror: string) => options.meters.mirrorRequested(mirror, ownerId),
  };
  return cloneRepository(options, request);
}
