/** Makes a new workspace as a session wishes it. What cannot be finished is taken away again. */
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
import { type Cloned, cloneRepository, mirrorMount } from "./repository/clone.ts";
import {
  branchFor,
  checkBranch,
  pathNotGranted,
  requireUsable,
  type UsableRepository,
} from "./repository/repository-rules.ts";
import type { WorkspaceWish } from "./workspace.ts";

export type MakeOptions = OpenOptions;

export interface Place {
  id: string;
  folder: string;
  now: number;
}

export interface Plan {
  /** The project's folder. Closed with the workspace, or by `makeWorkspace` if there is to be none. */
  held: HeldFolder | null;
  repository: UsableRepository | null;
  branch: string | null;
}

export async function makeWorkspace(
  place: Place,
  wish: WorkspaceWish,
  plan: Plan,
  options: MakeOptions,
): Promise<{ record: WorkspaceRecord; workspace: OpenWorkspace }> {
  try {
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    return await fill(place, wish, plan, options);
  } catch (error) {
    plan.held?.close();
    // Files that cannot be deleted now are deleted at the next start; the reason matters more.
    await removeTree(place.folder).catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses a folder of this machine that the server did not grant. The runner's own project folder
 * needs no grant: who started the runner named it.
 */
export function requireGranted(
  { projectDir, repository, mayUsePath }: WorkspaceWish,
  ownProject: string | undefined,
): void {
  if (mayUsePath) return;
  if (projectDir !== null ? projectDir !== ownProject : repository?.kind === "path") {
    throw pathNotGranted();
  }
}

/** Everything that can be refused is refused before anything is made. */
export function planWorkspace(wish: WorkspaceWish, { folderRules }: MakeOptions): Plan {
  if (wish.projectDir !== null) {
    const held = holdProjectFolder(wish.projectDir, folderRules);
    return { held, repository: null, branch: null };
  }
  if (wish.repository === null) return { held: null, repository: null, branch: null };
  const branch = wish.branch === null ? null : checkBranch(wish.branch);
  return { held: null, repository: requireUsable(wish.repository, wish.mayUsePath), branch };
}

async function fill(place: Place, wish: WorkspaceWish, plan: Plan, options: MakeOptions) {
  const { id, folder, now } = place;
  const { held } = plan;
  const { sessionId } = wish;
  const cloned = await fetchWork(place, wish, plan, options);
  const record: WorkspaceRecord = {
    version: 1,
    id,
    sessionId,
    ownerId: wish.ownerId ?? null,
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
    await workspace.keep.begin({
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

async function fetchWork(
  { id, folder }: Place,
  { sessionId, ownerId = null, access = async () => null, identity = null, signal }: WorkspaceWish,
  { held, repository, branch }: Plan,
  options: MakeOptions,
): Promise<Cloned | null> {
  if (held) return null;
  const workFolder = workFolderOf(folder, { projectDir: null });
  mkdirSync(workFolder, { recursive: true });
  if (!repository) return null;
  const wish = {
    repository,
    branch,
    newBranch: branchFor(sessionId),
    access,
    identity,
    workFolder,
    scratchFolder: join(folder, "git-scratch"),
    signal: signal ?? options.closing,
    personLeft: () => options.rooms.personLeft({ id, ownerId }),
    mirrorAsked: (mirror: string) => options.rooms.mirrorAsked(mirror, ownerId),
  };
  return cloneRepository(options, wish);
}
