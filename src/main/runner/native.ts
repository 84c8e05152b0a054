/** Assembles the native agent: models, sandbox, workspaces, tools. */
import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import type { Config } from "#base/config.ts";
import { createIds } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { pinSecret } from "#base/secrets/known-secrets.ts";
import { DiskGuard } from "#execution/disk/disk-guard.ts";
import { secretsIn } from "#execution/models/provider-settings.ts";
import { createModels } from "#execution/models/registry.ts";
import type { WatchedDisk } from "#execution/runner/disk-watch.ts";
import { createNativeRuntime } from "#execution/runtimes/native/native-runtime.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { MachineSandbox } from "#execution/sandboxes/machine-sandbox.ts";
import { DEFAULT_LIMITS } from "#execution/sandboxes/sandbox.ts";
import { createRedactor } from "#execution/tools/output/redact.ts";
import { createRunnerTools } from "#execution/tools/runner-tools.ts";
import { createWorkspaces } from "#execution/workspaces/workspaces.ts";
import type { RunnerProfile } from "#protocol/frames.ts";
import { type Gateway, ServerModels } from "../server/server-models.ts";

export type NativeSettings = Pick<
  Config,
  | "providers"
  | "modelSilenceMs"
  | "sandbox"
  | "disk"
  | "allowedHosts"
  | "projectFolders"
  | "path"
  | "home"
>;

export interface Native {
  runtime: Runtime;
  models: RunnerProfile["models"];
  sandbox: MachineSandbox;
  disk: WatchedDisk;
  /** Reads the list of models again, the server's own included. */
  findModels(): Promise<RunnerProfile["models"]>;
}

export async function createNative(
  settings: NativeSettings,
  { folder, projectDir: onlyWithin }: { folder: string; projectDir: string | null },
  gateway: Gateway,
  log: Log,
): Promise<Native> {
  const { providers, allowedHosts, path, home, projectFolders } = settings;
  const secrets = [...secretsIn(providers), gateway.token];
  for (const secret of secrets) pinSecret(secret);
  const models = createModels({
    environment: providers,
    idleTimeoutMs: settings.modelSilenceMs,
  });
  const serverModels = new ServerModels(models, gateway, log);
  const sandbox = new MachineSandbox({
    setting: settings.sandbox,
    bubblewrap: createBubblewrap({ folder: join(folder, "sandbox"), path }),
    local: createLocal({ path }),
    log,
  });
  const [offers] = await Promise.all([models.capabilities(), sandbox.look()]);
  const refusal = sandbox.refusal();
  if (refusal) log.warn({}, refusal.message);
  const disk = new DiskGuard({ folder, settings: settings.disk, log });
  const workspaces = await createWorkspaces({
    folder,
    disk,
    sandboxProvider: () => sandbox.current(),
    limits: DEFAULT_LIMITS,
    allowedHosts,
    protectedFolders: [home],
    projectFolders,
    path,
    ...(onlyWithin === null ? {} : { onlyWithin }),
    clock: systemClock,
    ids: createIds(),
    log,
  });
  return {
    runtime: createNativeRuntime({
      models,
      tools: createRunnerTools(),
      workspaces,
      redact: createRedactor(secrets),
      clock: systemClock,
      refreshModels: () => serverModels.refresh(),
    }),
    models: offers,
    async findModels() {
      await serverModels.refresh();
      return models.capabilities();
    },
    sandbox,
    disk: {
      look: () => disk.look(),
      onChange: (listener) => disk.onChange(listener),
      isPressed: () => disk.isPressed,
      tend: () => workspaces.tend(),
      report: () => workspaces.diskReport(),
    },
  };
}
