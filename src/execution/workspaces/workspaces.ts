/**
 * All workspaces of a runner, in its folder:
 *
 *     workspaces/<id>/   work, scratch, git-scratch, keep.git, workspace.json
 *     removed/<id>/      the same, for 7 days
 *     mirrors/           objects that clones of one address share
 */
import { mkdirSync, realpathSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { SandboxLimits, SandboxProvider, SandboxSpec } from "#execution/sandboxes/sandbox.ts";
import { type MakeOptions, makeWorkspace } from "./make-workspace.ts";
import { type OpenWorkspace, openWorkspace } from "./open-workspace.ts";
import { refused } from "./parse-repository.ts";
import { scanRecords, syncFolder, type WorkspaceRecord, writeRecord } from "./records.ts";
import { removeTree } from "./remove-tree.ts";
import type { Workspaces, WorkspaceWish } from "./workspace.ts";

export interface WorkspacesOptions {
  folder: string;
  sandboxProvider: SandboxProvider;
  limits: SandboxLimits;
  allowedHosts: readonly string[];
  /** More of the machine that every agent may read, such as a toolchain. */
  readOnly?: NonNullable<SandboxSpec["readOnly"]>;
  /** Folders of Muster's own, besides `folder`. */
  protectedFolders?: readonly string[];
  clock: Clock;
  ids: Ids;
  log: Log;
}

const KEPT_FOR_MS = 7 * 24 * 60 * 60_000;

export async function createWorkspaces(options: WorkspacesOptions): Promise<Workspaces> {
  const shelf = new Shelf(options);
  await shelf.clearUnfinished();
  return shelf;
}

class Shelf implements Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #make: MakeOptions;
  readonly #liveFolder: string;
  readonly #removedFolder: string;
  readonly #records: Map<string, WorkspaceRecord>;
  readonly #unfinished: string[];
  readonly #open = new Map<string, Promise<OpenWorkspace>>();

  constructor(options: WorkspacesOptions) {
    const { folder, sandboxProvider, limits, allowedHosts, readOnly = [] } = options;
    this.#options = options;
    this.#liveFolder = join(folder, "workspaces");
    this.#removedFolder = join(folder, "removed");
    const mirrorsFolder = join(folder, "mirrors");
    for (const made of [this.#removedFolder, mirrorsFolder]) {
      mkdirSync(made, { recursive: true, mode: 0o700 });
    }
    this.#make = {
      provider: sandboxProvider,
      limits,
      allowedHosts,
      readOnly,
      mirrorsFolder,
      protectedFolders: [folder, ...(options.protectedFolders ?? [])],
      inTurn: createQueue(),
    };
    const { records, unfinished } = scanRecords(this.#liveFolder);
    this.#records = new Map(records.map((record) => [record.sessionId, record]));
    this.#unfinished = unfinished;
  }

  async clearUnfinished(): Promise<void> {
    for (const name of this.#unfinished) await removeTree(join(this.#liveFolder, name));
  }

  open(wish: WorkspaceWish): Promise<OpenWorkspace> {
    const record = this.#records.get(wish.sessionId);
    return (
      this.#open.get(wish.sessionId) ??
      this.#remember(wish.sessionId, record ? this.#reopen(record) : this.#makeNew(wish))
    );
  }

  sessions(): string[] {
    return [...this.#records.keys()];
  }

  holds(sessionId: string): boolean {
    return this.#records.has(sessionId);
  }

  async hibernate(sessionId: string): Promise<void> {
    const workspace = await this.#open.get(sessionId)?.catch(() => undefined);
    if (!workspace) return;
    // From here on whoever opens it gets one of its own: this one is being closed.
    this.#open.delete(sessionId);
    try {
      await workspace.snapshot();
    } finally {
      await workspace.close();
    }
  }

  async remove(sessionId: string): Promise<void> {
    const record = this.#records.get(sessionId);
    if (!record) return;
    const { clock, log } = this.#options;
    try {
      // One that sleeps is woken, so that its last state is kept like any other's.
      await (this.#open.get(sessionId) ?? this.#remember(sessionId, this.#reopen(record)));
      await this.hibernate(sessionId);
    } catch (error) {
      log.warn({ workspaceId: record.id, error }, "no snapshot before removal");
    }
    const from = this.#folderOf(record);
    await writeRecord(from, { ...record, removedAt: clock.now() });
    renameSync(from, join(this.#removedFolder, record.id));
    await syncFolder(this.#removedFolder);
    this.#records.delete(sessionId);
  }

  async restore(sessionId: string): Promise<boolean> {
    const [record] = this.#listRemoved().filter((removed) => removed.sessionId === sessionId);
    if (!record || this.#records.has(sessionId)) return false;
    const live = { ...record, removedAt: null };
    renameSync(join(this.#removedFolder, record.id), this.#folderOf(record));
    await writeRecord(this.#folderOf(record), live);
    this.#records.set(sessionId, live);
    return true;
  }

  async sweep(): Promise<void> {
    const { clock, log } = this.#options;
    for (const { id, removedAt } of this.#listRemoved()) {
      if ((removedAt ?? 0) + KEPT_FOR_MS > clock.now()) continue;
      await removeTree(join(this.#removedFolder, id));
      log.info({ workspaceId: id }, "removed workspace deleted for good");
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((sessionId) => this.hibernate(sessionId)));
  }

  #folderOf({ id }: WorkspaceRecord): string {
    return join(this.#liveFolder, id);
  }

  #remember(sessionId: string, opening: Promise<OpenWorkspace>): Promise<OpenWorkspace> {
    this.#open.set(sessionId, opening);
    opening.catch(() => this.#open.delete(sessionId));
    return opening;
  }

  async #reopen(record: WorkspaceRecord): Promise<OpenWorkspace> {
    if (record.projectDir && !isStill(record.projectDir)) {
      throw refused("The project's folder has moved or become a link. Put it back, or begin anew.");
    }
    return openWorkspace(this.#folderOf(record), record, this.#make);
  }

  async #makeNew(wish: WorkspaceWish): Promise<OpenWorkspace> {
    const { ids, clock, log } = this.#options;
    const id = ids.mint("wsp");
    const place = { id, folder: join(this.#liveFolder, id), now: clock.now() };
    const { record, workspace } = await makeWorkspace(place, wish, this.#make);
    this.#records.set(wish.sessionId, record);
    log.info({ workspaceId: id, origin: record.origin }, "workspace made");
    return workspace;
  }

  /** The latest first. */
  #listRemoved(): WorkspaceRecord[] {
    const { records } = scanRecords(this.#removedFolder);
    return records.sort((a, b) => (b.removedAt ?? 0) - (a.removedAt ?? 0));
  }
}

function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

function isStill(folder: string): boolean {
  try {
    return realpathSync(folder) === folder;
  } catch {
    return false;
  }
}
