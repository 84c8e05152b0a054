/** An open workspace: its folder, the agent's sandbox, and the runner's own for git. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import type { SandboxLimits, SandboxProvider, SandboxSpec } from "#execution/sandboxes/sandbox.ts";
import { INSIDE, mirrorMount } from "./clone.ts";
import { clearLocks, createKeep, type Keep } from "./keep.ts";
import type { WorkspaceRecord } from "./records.ts";
import { measureTree } from "./remove-tree.ts";
import type { Workspace } from "./workspace.ts";

export interface OpenOptions {
  provider: SandboxProvider;
  limits: SandboxLimits;
  allowedHosts: readonly string[];
  readOnly: NonNullable<SandboxSpec["readOnly"]>;
  mirrorsFolder: string;
}

export interface OpenWorkspace extends Workspace {
  readonly keep: Keep;
  close(): Promise<void>;
}

const MAX_INSTRUCTION_BYTES = 32 * 1024;
/** Read inside, because it may be a link to anywhere. */
const READ_INSTRUCTIONS = `for f in AGENTS.md CLAUDE.md; do
  if [ -f "$f" ]; then head -c "$1" "$f"; exit; fi
done`;

export function workFolderOf(folder: string, record: Pick<WorkspaceRecord, "projectDir">): string {
  return record.projectDir ?? join(folder, "work");
}

export async function openWorkspace(
  folder: string,
  record: WorkspaceRecord,
  options: OpenOptions,
): Promise<OpenWorkspace> {
  const { provider, limits } = options;
  const workFolder = workFolderOf(folder, record);
  const keepFolder = join(folder, "keep.git");
  const mirrors = record.mirror
    ? [mirrorMount(provider, options.mirrorsFolder, record.mirror)]
    : [];
  mkdirSync(keepFolder, { recursive: true });
  clearLocks(keepFolder);
  const insideFolder = provider.kind === "local" ? keepFolder : `${INSIDE}/keep.git`;
  const gitSandbox = await provider.open({
    workspaceFolder: workFolder,
    workspaceReadOnly: true,
    scratchFolder: join(folder, "git-scratch"),
    readOnly: mirrors,
    writable: [{ from: keepFolder, to: insideFolder }],
    allowedHosts: [],
    limits,
  });
  const sandbox = await provider.open({
    workspaceFolder: workFolder,
    scratchFolder: join(folder, "scratch"),
    readOnly: [...options.readOnly, ...mirrors],
    allowedHosts: options.allowedHosts,
    limits,
  });
  const keep = createKeep({ folder: keepFolder, workFolder, insideFolder, sandbox: gitSandbox });
  return {
    id: record.id,
    origin: record.origin,
    folder: workFolder,
    scratchFolder: join(folder, "scratch", "tmp"),
    scratchPath: provider.kind === "local" ? join(folder, "scratch", "tmp") : "/tmp",
    branch: record.branch,
    sandbox,
    keep,
    mark: keep.mark,
    changes: keep.changes,
    snapshot: keep.snapshot,
    async instructions() {
      const argv = ["/bin/sh", "-c", READ_INSTRUCTIONS, "sh", String(MAX_INSTRUCTION_BYTES)];
      const running = gitSandbox.run({ argv, timeoutMs: 10_000 });
      running.stdin.end();
      running.stderr.resume();
      return (await collectText(running.stdout, MAX_INSTRUCTION_BYTES)) || null;
    },
    diskBytes: async () => {
      const own = await measureTree(folder);
      return record.projectDir ? own + (await measureTree(record.projectDir)) : own;
    },
    async close() {
      await sandbox.close();
      await gitSandbox.close();
    },
  };
}
