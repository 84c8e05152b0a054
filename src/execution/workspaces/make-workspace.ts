/** Makes a new workspace as a session wishes it. What cannot be finished is taken away again. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkProjectFolder } from "./check-project-folder.ts";
import { type Cloned, type CloneOptions, cloneRepository, mirrorMount } from "./clone.ts";
import {
  type OpenOptions,
  type OpenWorkspace,
  openWorkspace,
  workFolderOf,
} from "./open-workspace.ts";
import { branchFor, checkBranch, parseRepository, type Repository } from "./parse-repository.ts";
import { syncFolder, type WorkspaceRecord, writeRecord } from "./records.ts";
import { removeTree } from "./remove-tree.ts";
import type { WorkspaceWish } from "./workspace.ts";

export interface MakeOptions extends OpenOptions, CloneOptions {
  /** Mirrors are written by one at a time. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

export interface Place {
  id: string;
  folder: string;
  now: number;
}

interface Plan {
  projectDir: string | null;
  repository: Repository | null;
  branch: string | null;
}

export async function makeWorkspace(
  place: Place,
  wish: WorkspaceWish,
  options: MakeOptions,
): Promise<{ record: WorkspaceRecord; workspace: OpenWorkspace }> {
  const plan = planFor(wish, options);
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  try {
    return await fill(place, wish, plan, options);
  } catch (error) {
    await removeTree(place.folder);
    throw error;
  }
}

/** Everything that can be refused is refused before anything is made. */
function planFor(wish: WorkspaceWish, { protectedFolders }: MakeOptions): Plan {
  if (wish.projectDir !== null) {
    const projectDir = checkProjectFolder(wish.projectDir, { protectedFolders });
    return { projectDir, repository: null, branch: null };
  }
  if (wish.repo === null) return { projectDir: null, repository: null, branch: null };
  const branch = wish.branch === null ? null : checkBranch(wish.branch);
  return { projectDir: null, repository: parseRepository(wish.repo), branch };
}

async function fill(
  { id, folder, now }: Place,
  { sessionId }: WorkspaceWish,
  plan: Plan,
  options: MakeOptions,
) {
  const cloned = await fetchWork(folder, sessionId, plan, options);
  const record: WorkspaceRecord = {
    version: 1,
    id,
    sessionId,
    origin: plan.projectDir ? "folder" : cloned ? "git" : "empty",
    projectDir: plan.projectDir,
    branch: cloned ? branchFor(sessionId) : null,
    mirror: cloned?.mirror ?? null,
    createdAt: now,
    removedAt: null,
  };
  const workspace = await openWorkspace(folder, record, options);
  try {
    const mount = cloned && mirrorMount(options.provider, options.mirrorsFolder, cloned.mirror);
    await workspace.keep.begin({
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

async function fetchWork(
  folder: string,
  sessionId: string,
  { projectDir, repository, branch }: Plan,
  options: MakeOptions,
): Promise<Cloned | null> {
  const workFolder = workFolderOf(folder, { projectDir });
  mkdirSync(workFolder, { recursive: true });
  if (!repository) return null;
  const wish = {
    repository,
    branch,
    newBranch: branchFor(sessionId),
    workFolder,
    scratchFolder: join(folder, "git-scratch"),
  };
  return options.inTurn(() => cloneRepository(options, wish));
}
