/** An open workspace: its folder, the agent's sandbox, and the runner's own for git. */
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "#base/refusal.ts";
import type { WorkspaceMeter } from "#execution/disk/workspace-meter.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import type { Sandbox, SandboxSpec } from "#execution/sandboxes/sandbox.ts";
import { SCRATCH_PATH } from "#protocol/names/workspace-paths.ts";
import type { HeldFolder } from "./folders/held-folder.ts";
import { removeTree } from "./folders/remove-tree.ts";
import type { MeterRegistry } from "./housekeeping.ts";
import type { WorkspaceRecord } from "./records.ts";
import { type CloneOptions, mirrorMount, SANDBOX_ROOT } from "./repository/clone.ts";
import { readState } from "./repository/inspect-clone.ts";
import { PUBLISH_PREFIX, publish } from "./repository/publish.ts";
import { clearLocks, createSnapshotStore, type SnapshotStore } from "./snapshots/snapshot-store.ts";
import type { ClonedRepository, Workspace } from "./workspace.ts";

export interface OpenOptions extends CloneOptions {
  allowedHosts: readonly string[];
  readOnly: NonNullable<SandboxSpec["readOnly"]>;
  meters: MeterRegistry;
}

export interface OpenWorkspace extends Workspace {
  readonly snapshots: SnapshotStore;
  readonly meter: WorkspaceMeter;
  /** Refuses when the folder was replaced. */
  check(): void;
  close(): Promise<void>;
}

/** Longest time that the end of a turn waits for a figure. */
const MEASURE_LIMIT_MS = 1_000;
const MAX_INSTRUCTION_BYTES = 32 * 1024;
const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"];
/** Read inside the sandbox, because the file may be a link to anywhere. */
const READ_INSTRUCTIONS = `for f in ${INSTRUCTION_FILES.join(" ")}; do
  if [ -f "$f" ]; then head -c "$1" "$f"; exit; fi
done`;

export function workFolderOf(folder: string, record: Pick<WorkspaceRecord, "projectDir">): string {
  return record.projectDir ?? join(folder, "work");
}

/**
 * Opens a workspace; `held` is its project folder, if it has one, which is closed with the
 * workspace.
 */
export async function openWorkspace(
  folder: string,
  record: WorkspaceRecord,
  held: HeldFolder | null,
  options: OpenOptions,
): Promise<OpenWorkspace> {
  const { provider, limits, disk, meters } = options;
  const workFolder = workFolderOf(folder, record);
  const snapshotFolder = join(folder, "keep.git");
  const mirrors = record.mirror
    ? [mirrorMount(provider, options.mirrorsFolder, record.mirror)]
    : [];
  mkdirSync(snapshotFolder, { recursive: true });
  await clearPublished(folder);
  const personLeft = () => meters.personLeft(record);
  const meter = disk.openMeter(folder, held?.path ?? null, { personLeft });
  clearLocks(snapshotFolder);
  const insideFolder = provider.kind === "local" ? snapshotFolder : `${SANDBOX_ROOT}/keep.git`;
  const work = { workspaceFolder: workFolder, workspaceIdentity: held?.identity };
  const sandbox = await provider.open({
    ...work,
    scratchFolder: join(folder, "scratch"),
    readOnly: [...options.readOnly, ...mirrors],
    allowedHosts: options.allowedHosts,
    limits,
  });
  const git = openLazily(async () => {
    const opened = await provider.open({
      ...work,
      workspaceReadOnly: true,
      scratchFolder: join(folder, "git-scratch"),
      readOnly: mirrors,
      writable: [{ from: snapshotFolder, to: insideFolder }],
      allowedHosts: [],
      limits,
    });
    return disk.watch(guard(opened, held));
  });
  const snapshots = createSnapshotStore({
    folder: snapshotFolder,
    workFolder,
    insideFolder,
    insideWorkFolder: sandbox.workspacePath,
    sandbox: git.get,
    isFull: () => meter.isRecordFull,
  });
  const look = openLazily(() =>
    provider.open({
      ...work,
      workspaceReadOnly: true,
      scratchFolder: join(folder, "look-scratch"),
      readOnly: mirrors,
      allowedHosts: [],
      limits,
    }),
  );
  meters.meterOpened(record.id, meter);
  return {
    id: record.id,
    origin: record.origin,
    folder: workFolder,
    held: held ?? undefined,
    scratchFolder: join(folder, "scratch", "tmp"),
    scratchPath: provider.kind === "local" ? join(folder, "scratch", "tmp") : SCRATCH_PATH,
    branch: record.branch,
    sandbox: meter.watch(guard(sandbox, held)),
    meter,
    repository: repositoryOf(folder, record, look.get, options),
    snapshots,
    mark: snapshots.mark,
    changes: snapshots.changes,
    snapshot: snapshots.snapshot,
    check: () => held?.check(),
    isStale: () => provider.isCurrent?.() === false,
    async instructions() {
      held?.check();
      return hasInstructions(workFolder) ? readInstructions(await git.get()) : null;
    },
    async diskBytes() {
      held?.check();
      await meter.freshUsage(MEASURE_LIMIT_MS);
      return meter.totalBytes;
    },
    async close() {
      meter.save();
      meters.meterClosed(record.id, meter);
      await sandbox.close();
      await git.close();
      await look.close();
      held?.close();
    },
  };
}

function repositoryOf(
  folder: string,
  { mirror, branch }: WorkspaceRecord,
  look: () => Promise<Sandbox>,
  options: OpenOptions,
): ClonedRepository | undefined {
  if (mirror === null || branch === null) return undefined;
  const { to: store } = mirrorMount(options.provider, options.mirrorsFolder, mirror);
  const view = async () => ({ sandbox: await look(), store });
  return {
    async state(base) {
      const state = await readState(await view(), base);
      if ("problem" in state) throw new Refusal("conflict", "clone_unreadable", state.problem);
      return state;
    },
    publish: (request) => publish({ folder, mirror, ownBranch: branch, view, options }, request),
  };
}

/** Removes files that a runner left which was killed while it published. */
async function clearPublished(folder: string): Promise<void> {
  for (const name of readdirSync(folder))
    if (name.startsWith(PUBLISH_PREFIX)) await removeTree(join(folder, name));
}

/** Checks before every command that a folder others can reach was not replaced. */
function guard(sandbox: Sandbox, held: HeldFolder | null): Sandbox {
  if (!held) return sandbox;
  return {
    ...sandbox,
    run(command) {
      held.check();
      return sandbox.run(command);
    },
  };
}

/** Opens a sandbox when it is first needed; a turn may end without it. */
function openLazily(open: () => Promise<Sandbox>) {
  let opening: Promise<Sandbox> | undefined;
  let closed = false;
  return {
    get(): Promise<Sandbox> {
      if (closed) throw new Error("The workspace is closed.");
      opening ??= open();
      return opening;
    },
    async close() {
      closed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** True if an entry of that name exists, of whatever kind. */
function hasInstructions(workFolder: string): boolean {
  return INSTRUCTION_FILES.some((name) => {
    try {
      return lstatSync(join(workFolder, name)) !== undefined;
    } catch {
      return false;
    }
  });
}

async function readInstructions(sandbox: Sandbox): Promise<string | null> {
  const argv = ["/bin/sh", "-c", READ_INSTRUCTIONS, "sh", String(MAX_INSTRUCTION_BYTES)];
  const running = sandbox.run({ argv, timeoutMs: 10_000 });
  running.stdin.end();
  running.stderr.resume();
  return (await collectText(running.stdout, MAX_INSTRUCTION_BYTES)) || null;
}
