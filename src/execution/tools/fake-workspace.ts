/** A workspace for tests: folders of its own, seen through a real sandbox. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import {
  DEFAULT_LIMITS,
  type SandboxKind,
  type SandboxProvider,
} from "#execution/sandboxes/sandbox.ts";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import type { RunnerTools, ToolContext, ToolOutcome } from "./tool.ts";

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";

export interface FakeWorkspace extends Workspace, AsyncDisposable {
  /** Whole folder, including the parts beside the workspace. */
  readonly machineFolder: string;
}

/** Kinds of sandbox that work on this machine, the best first. */
export async function findSandboxKinds(): Promise<SandboxKind[]> {
  const folder = mkdtempSync(join(tmpdir(), "muster-tools-"));
  const { usable } = await createProvider("bubblewrap", folder).probe();
  rmSync(folder, { recursive: true, force: true });
  return usable ? ["bubblewrap", "local"] : ["local"];
}

function createProvider(kind: SandboxKind, folder: string): SandboxProvider {
  if (kind === "local") return createLocal({ path: SEARCH_PATH });
  return createBubblewrap({ folder, path: SEARCH_PATH });
}

/** Opens a workspace in the best sandbox, if no kind is named. */
export async function openFakeWorkspace(wanted?: SandboxKind): Promise<FakeWorkspace> {
  const kind = wanted ?? (await findSandboxKinds())[0] ?? "local";
  const machineFolder = realpathSync(mkdtempSync(join(tmpdir(), "muster-tools-")));
  const folder = join(machineFolder, "workspace");
  const scratchFolder = join(machineFolder, "scratch");
  mkdirSync(folder);
  const sandbox = await createProvider(kind, join(machineFolder, "sandboxes")).open({
    workspaceFolder: folder,
    scratchFolder,
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  });
  const tmp = join(scratchFolder, "tmp");
  const unused = () => Promise.reject(new Error("Not for tests of tools."));
  return {
    id: "ws_test",
    origin: "empty",
    machineFolder,
    folder,
    scratchFolder: tmp,
    scratchPath: kind === "local" ? tmp : "/tmp",
    sandbox,
    branch: null,
    instructions: unused,
    mark: unused,
    changes: unused,
    snapshot: unused,
    isStale: () => false,
    diskBytes: unused,
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(machineFolder, { recursive: true, force: true });
    },
  };
}

export interface ToolCall {
  sessionId?: string;
  callId?: string;
  signal?: AbortSignal;
  progress?: (text: string) => void;
}

/** Performs a call as the executor would. */
export function createCaller(tools: RunnerTools, workspace: Workspace) {
  let calls = 0;
  return async (name: string, input: unknown, call: ToolCall = {}): Promise<ToolOutcome> => {
    const tool = tools.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    calls++;
    const context: ToolContext = {
      sessionId: call.sessionId ?? "ses_test",
      callId: call.callId ?? `call_${calls}`,
      cwd: tools.workingDirectory(call.sessionId ?? "ses_test"),
      workspace: async () => workspace,
      signal: call.signal ?? new AbortController().signal,
      progress: call.progress ?? (() => {}),
    };
    return await tool.perform(context, input);
  };
}
