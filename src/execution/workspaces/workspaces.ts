/**
 * All workspaces of a runner, in its folder:
 *
 *     workspaces/<id>/   work, scratch, git-scratch, keep.git, workspace.json, usage.json
 *     removed/<id>/      the same, for 7 days
 *     mirrors/           objects that clones of one address share
 */
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { DEFAULT_DISK, DiskGuard } from "#execution/disk/disk-guard.ts";
import type { SandboxLimits, SandboxProvider, SandboxSpec } from "#execution/sandboxes/sandbox.ts";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import { checkPath, isInside, resolveRules } from "./folders/check-project-folder.ts";
import { holdFolder } from "./folders/held-folder.ts";
import { removeTree } from "./folders/remove-tree.ts";
import { Housekeeping, type MaintainedWorkspace } from "./housekeeping.ts";
import {
  type MakeOptions,
  makeWorkspace,
  planWorkspace,
  requireGranted,
} from "./make-workspace.ts";
import { type OpenWorkspace, openWorkspace } from "./open-workspace.ts";
import { createNamedQueues } from "./queue.ts";
import { scanRecords, syncFolder, type WorkspaceRecord, writeRecord } from "./records.ts";
import { refused } from "./repository/repository-rules.ts";
import type { WorkspaceRequest, Workspaces } from "./workspace.ts";

export interface WorkspacesOptions {
  folder: string;
  /** A function where the machine's sandbox may change; it refuses while there is none. */
  sandboxProvider: SandboxProvider | (() => SandboxProvider);
  limits: SandboxLimits;
  allowedHosts: readonly string[];
  /** Further paths of the machine that every agent may read, such as a toolchain. */
  readOnly?: NonNullable<SandboxSpec["readOnly"]>;
  /** Folders of Muster's own, besides `folder`. */
  protectedFolders?: readonly string[];
  /**
   * Folders that projects and repositories of this machine must lie in; if empty, any folder that
   * is not refused.
   */
  projectFolders?: readonly string[];
  /** The one folder this runner is for, if it is for one. */
  onlyWithin?: string | undefined;
  /** Search path for the runner's own git. */
  path?: string;
  /** Time limit for a git server's first answer. */
  askTimeoutMs?: number;
  /** Guard with the default limits if absent. */
  disk?: DiskGuard;
  clock: Clock;
  ids: Ids;
  log: Log;
}

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";

export async function createWorkspaces(options: WorkspacesOptions): Promise<Workspaces> {
  const workspaces = new RunnerWorkspaces(options);
  await workspaces.clearUnfinished();
  return workspaces;
}

class RunnerWorkspaces implements Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #make: Omit<MakeOptions, "provider">;
  readonly #liveFolder: string;
  readonly #removedFolder: string;
  readonly #records: Map<string, WorkspaceRecord>;
  readonly #unfinished: string[];
  readonly #disk: DiskGuard;
  readonly #housekeeping: Housekeeping;
  readonly #closing = new AbortController();
  readonly #open = new Map<string, Promise<OpenWorkspace>>();
  readonly #turns = new Map<string, Promise<void>>();
  /** Workspaces that the runner has opened for itself; a session that needs one aborts that. */
  readonly #borrowed = new Map<string, AbortController>();
  /** Project folders that sessions have open. */
  readonly #claims = new Map<string, string>();

  constructor(options: WorkspacesOptions) {
    const { folder, limits, allowedHosts, readOnly = [], log, clock } = options;
    this.#options = options;
    this.#liveFolder = join(folder, "workspaces");
    this.#removedFolder = join(folder, "removed");
    const mirrorsFolder = join(folder, "mirrors");
    for (const made of [this.#removedFolder, mirrorsFolder]) {
      mkdirSync(made, { recursive: true, mode: 0o700 });
    }
    const disk = options.disk ?? new DiskGuard({ folder, settings: DEFAULT_DISK, log });
    this.#disk = disk;
    const inTurn = createNamedQueues();
    this.#housekeeping = new Housekeeping({
      liveFolder: this.#liveFolder,
      removedFolder: this.#removedFolder,
      mirrorsFolder,
      disk,
      clock,
      log,
      closing: this.#closing.signal,
      inTurn,
      live: () => [...this.#records.values()],
      removed: () => this.#listRemoved(),
      opened: async (sessionId) => (await this.#open.get(sessionId)?.catch(() => null)) ?? null,
      borrow: (sessionId, use) => this.#borrow(sessionId, use),
    });
    this.#make = {
      limits,
      allowedHosts,
      readOnly,
      mirrorsFolder,
      path: options.path ?? SEARCH_PATH,
      closing: this.#closing.signal,
      folderRules: resolveRules({
        protectedFolders: [folder, ...(options.protectedFolders ?? [])],
        projectFolders: options.projectFolders ?? [],
        onlyWithin: options.onlyWithin,
      }),
      inTurn,
      askTimeoutMs: options.askTimeoutMs,
      disk,
      meters: this.#housekeeping,
    };
    const { records, unfinished } = scanRecords(this.#liveFolder);
    this.#records = new Map(records.map((record) => [record.sessionId, record]));
    this.#unfinished = unfinished;
  }

  async clearUnfinished(): Promise<void> {
    for (const name of this.#unfinished)
      await removeTree(join(this.#liveFolder, name)).catch((error: unknown) =>
        this.#options.log.warn(
          { err: error, folder: name },
          "an unfinished workspace cannot be deleted",
        ),
      );
  }

  open(request: WorkspaceRequest): Promise<OpenWorkspace> {
    const { sessionId } = request;
    this.#borrowed.get(sessionId)?.abort();
    return this.#inTurn(sessionId, async () => {
      // A workspace that exists is refused too: an earlier version may have made it.
      requireGranted(request, this.#options.onlyWithin);
      if (request.isFresh) await this.#takeAway(sessionId);
      // A removed workspace whose session is there again comes back.
      else if (!this.#records.has(sessionId)) await this.#bringBack(sessionId);
      await this.#closeStale(sessionId);
      const record = this.#withOwner(sessionId, request.ownerId ?? null);
      const workspace = await (this.#open.get(sessionId) ??
        this.#remember(sessionId, record ? this.#reopen(record) : this.#makeNew(request)));
      workspace.check();
      return workspace;
    });
  }

  /** Workspaces of earlier versions do not record their owner. */
  #withOwner(sessionId: string, ownerId: string | null): WorkspaceRecord | undefined {
    const record = this.#records.get(sessionId);
    if (!record || record.ownerId !== null || ownerId === null) return record;
    const owned = { ...record, ownerId };
    this.#records.set(sessionId, owned);
    return owned;
  }

  /** Closes a workspace that was opened with a sandbox the machine no longer has. */
  async #closeStale(sessionId: string): Promise<void> {
    const workspace = await this.#open.get(sessionId)?.catch(() => undefined);
    if (!workspace?.isStale()) return;
    this.#open.delete(sessionId);
    this.#claims.delete(sessionId);
    await workspace.close();
  }

  sandboxRefusal(): Refusal | null {
    return this.#providerRefusal() ?? this.#disk.refusal();
  }

  #providerRefusal(): Refusal | null {
    try {
      this.#provider();
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  isSandboxed(): boolean {
    return this.#providerRefusal() === null && this.#provider().kind !== "local";
  }

  #provider(): SandboxProvider {
    const { sandboxProvider } = this.#options;
    return typeof sandboxProvider === "function" ? sandboxProvider() : sandboxProvider;
  }

  /**
   * Runs the operations of one session one after the other, because a workspace that is being
   * closed must not be used.
   */
  #inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(sessionId) ?? Promise.resolve();
    const result = before.then(work);
    const over = result.then(
      () => {},
      () => {},
    );
    this.#turns.set(sessionId, over);
    void over.then(() => {
      if (this.#turns.get(sessionId) === over) this.#turns.delete(sessionId);
    });
    return result;
  }

  sessions(): string[] {
    return [...this.#records.keys()];
  }

  holds(sessionId: string): boolean {
    return this.#records.has(sessionId);
  }

  hibernate(sessionId: string): Promise<void> {
    this.#borrowed.get(sessionId)?.abort();
    return this.#inTurn(sessionId, () => this.#putToSleep(sessionId));
  }

  async #putToSleep(sessionId: string): Promise<void> {
    const workspace = await this.#open.get(sessionId)?.catch(() => undefined);
    if (!workspace) return;
    this.#open.delete(sessionId);
    this.#claims.delete(sessionId);
    try {
      await workspace.snapshot();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Another folder has taken the place of its folder, so that is not its work.
      this.#options.log.warn({ workspaceId: workspace.id }, error.message);
    } finally {
      await workspace.close();
    }
  }

  remove(sessionId: string): Promise<void> {
    this.#borrowed.get(sessionId)?.abort();
    return this.#inTurn(sessionId, () => this.#takeAway(sessionId));
  }

  async #takeAway(sessionId: string): Promise<void> {
    const record = this.#records.get(sessionId);
    if (!record) return;
    const { clock, log } = this.#options;
    try {
      // A sleeping workspace is opened, so that its last state is kept like any other's.
      await (this.#open.get(sessionId) ?? this.#remember(sessionId, this.#reopen(record)));
      await this.#putToSleep(sessionId);
    } catch (error) {
      log.warn({ workspaceId: record.id, error }, "no snapshot before removal");
    }
    const from = this.#folderOf(record);
    await writeRecord(from, { ...record, removedAt: clock.now() });
    renameSync(from, join(this.#removedFolder, record.id));
    await syncFolder(this.#removedFolder);
    this.#records.delete(sessionId);
    this.#housekeeping.noteMoved();
  }

  restore(sessionId: string): Promise<boolean> {
    return this.#inTurn(sessionId, () => this.#bringBack(sessionId));
  }

  async #bringBack(sessionId: string): Promise<boolean> {
    const [record] = this.#listRemoved().filter((removed) => removed.sessionId === sessionId);
    if (!record || this.#records.has(sessionId)) return false;
    const live = { ...record, removedAt: null };
    // Recorded before the move: the mirror that it needs must not be deleted meanwhile.
    this.#records.set(sessionId, live);
    try {
      renameSync(join(this.#removedFolder, record.id), this.#folderOf(record));
    } catch (error) {
      this.#records.delete(sessionId);
      throw error;
    }
    this.#housekeeping.noteMoved();
    await writeRecord(this.#folderOf(record), live);
    return true;
  }

  sweep(): Promise<void> {
    return this.#housekeeping.sweepRemoved();
  }

  tend(): Promise<void> {
    return this.#housekeeping.tend();
  }

  diskReport(): DiskReport {
    return this.#housekeeping.report();
  }

  /** Opens a sleeping workspace for the runner itself, and closes it again. */
  #borrow(
    sessionId: string,
    use: (workspace: MaintainedWorkspace, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stop = new AbortController();
    this.#borrowed.set(sessionId, stop);
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    return this.#inTurn(sessionId, async () => {
      const record = this.#records.get(sessionId);
      if (!record || this.#open.has(sessionId) || signal.aborted) return;
      const workspace = await this.#remember(sessionId, this.#reopen(record));
      try {
        await use(workspace, signal);
      } finally {
        this.#open.delete(sessionId);
        this.#claims.delete(sessionId);
        await workspace.close();
      }
    }).finally(() => this.#borrowed.delete(sessionId));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#open.keys()].map((sessionId) => this.hibernate(sessionId)));
    this.#disk.close();
  }

  #folderOf({ id }: WorkspaceRecord): string {
    return join(this.#liveFolder, id);
  }

  #remember(sessionId: string, opening: Promise<OpenWorkspace>): Promise<OpenWorkspace> {
    this.#open.set(sessionId, opening);
    opening.catch(() => {
      this.#open.delete(sessionId);
      this.#claims.delete(sessionId);
    });
    return opening;
  }

  async #reopen(record: WorkspaceRecord): Promise<OpenWorkspace> {
    const { projectDir, folderIdentity: known } = record;
    const options = { ...this.#make, provider: this.#provider() };
    if (projectDir === null) return openWorkspace(this.#folderOf(record), record, null, options);
    const { folderRules } = this.#make;
    const held = holdFolder(projectDir, {
      known,
      checkPath: (path) => checkPath(path, folderRules),
    });
    try {
      this.#claim(record.sessionId, projectDir);
      return await openWorkspace(this.#folderOf(record), record, held, options);
    } catch (error) {
      held.close();
      throw error;
    }
  }

  async #makeNew(request: WorkspaceRequest): Promise<OpenWorkspace> {
    const { ids, clock, log } = this.#options;
    const id = ids.mint("wsp");
    const created = { id, folder: join(this.#liveFolder, id), now: clock.now() };
    const options = { ...this.#make, provider: this.#provider() };
    await this.#housekeeping.requireSpace({ id, ownerId: request.ownerId ?? null });
    const plan = planWorkspace(request, options);
    try {
      if (plan.held) this.#claim(request.sessionId, plan.held.path);
    } catch (error) {
      plan.held?.close();
      throw error;
    }
    const { record, workspace } = await makeWorkspace(created, request, plan, options);
    this.#records.set(request.sessionId, record);
    log.info({ workspaceId: id, origin: record.origin }, "workspace made");
    return workspace;
  }

  /**
   * Refuses a folder inside or around another session's, because that session could replace it. The
   * very same folder is allowed: nobody can replace it, and two sessions may work there together.
   */
  #claim(sessionId: string, folder: string): void {
    for (const [other, taken] of this.#claims) {
      if (other === sessionId || taken === folder) continue;
      if (isInside(folder, taken) || isInside(taken, folder)) {
        throw refused(
          "Another session is working in a folder inside or around this one. Wait until it sleeps or has ended, or choose another folder.",
        );
      }
    }
    this.#claims.set(sessionId, folder);
  }

  /** Removed workspaces, the latest first. */
  #listRemoved(): WorkspaceRecord[] {
    const { records } = scanRecords(this.#removedFolder);
    return records.sort((a, b) => (b.removedAt ?? 0) - (a.removedAt ?? 0));
  }
}
