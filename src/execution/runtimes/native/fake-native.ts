/** The native agent for tests: a scripted model, real tools, and a workspace without history. */
import { systemClock } from "#base/clock.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS } from "#execution/sandboxes/sandbox.ts";
import { createRedactor } from "#execution/tools/output/redact.ts";
import { createRunnerTools } from "#execution/tools/runner-tools.ts";
import type { Workspace, Workspaces } from "#execution/workspaces/workspace.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import { createNativeRuntime } from "./native-runtime.ts";
import { scriptModel } from "./script-model.ts";

export const NO_CHANGES: WorkspaceChanges = { files: [], more: 0, additions: 0, deletions: 0 };

export interface FakeWorkspaces {
  workspaces: Workspaces;
  workspace: Workspace;
  /** Actions in order. */
  acts: string[];
  held: Set<string>;
}

/** Workspaces without snapshots; the real ones have their own tests. */
export async function fakeWorkspaces(folder: string): Promise<FakeWorkspaces> {
  const acts: string[] = [];
  const held = new Set<string>();
  const sandbox = await createLocal({ path: "/usr/bin:/bin", controlGroups: null }).open({
    workspaceFolder: folder,
    scratchFolder: folder,
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  });
  const workspace: Workspace = {
    id: "wsp_1",
    origin: "empty",
    folder,
    scratchFolder: folder,
    scratchPath: folder,
    sandbox,
    branch: null,
    instructions: async () => "Use tabs.",
    mark: async () => {
      acts.push("mark");
    },
    changes: async () => {
      acts.push("changes");
      return { turn: NO_CHANGES, all: NO_CHANGES };
    },
    snapshot: async () => {},
    diskBytes: async () => 0,
    isStale: () => false,
  };
  const workspaces = {
    open: async ({ sessionId }: { sessionId: string }) => {
      acts.push("open");
      held.add(sessionId);
      return workspace;
    },
    holds: (sessionId: string) => held.has(sessionId),
    sandboxRefusal: () => null,
    isSandboxed: () => false,
    hibernate: async () => {},
    close: async () => {},
  } as unknown as Workspaces;
  return { workspaces, workspace, acts, held };
}

export function fakeNative(
  answer: Parameters<typeof scriptModel>[0],
  {
    workspaces,
    secrets = [],
    refreshModels,
  }: { workspaces: Workspaces; secrets?: string[]; refreshModels?: () => Promise<void> },
) {
  const script = scriptModel(answer);
  const runtime = createNativeRuntime({
    models: script.models,
    tools: createRunnerTools(),
    workspaces,
    redact: createRedactor(secrets),
    clock: systemClock,
    random: () => 0,
    ...(refreshModels ? { refreshModels } : {}),
  });
  return { runtime, requests: script.requests, models: script.models };
}
