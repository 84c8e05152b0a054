/** Assembles a runner: identity, runtimes, connection. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Environment } from "#base/config.ts";
import { createIds } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { acquireFileLock } from "#base/machine/file-lock.ts";
import { ensureMachineIdentity } from "#base/machine/machine-identity.ts";
import { ensurePrivateFile, ensurePrivateFolder } from "#base/machine/private-files.ts";
import type { Transport } from "#execution/runner/connection/transport.ts";
import { createWebSocketTransport } from "#execution/runner/connection/websocket-transport.ts";
import { Runner } from "#execution/runner/runner.ts";
import { createSteadyClock } from "#execution/runner/steady-clock.ts";
import { createEchoRuntime } from "#execution/runtimes/echo/echo-runtime.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import { createScriptedRuntime } from "#execution/runtimes/scripted/scripted-runtime.ts";
import type { Gateway } from "../server/server-models.ts";
import { VERSION } from "../version.ts";
import { createNative, type NativeSettings } from "./native.ts";

/** Options for starting a runner. */
export interface RunnerStart {
  env: Environment;
  tags: readonly string[];
  name?: string;
  profile?: string;
  tokenFile?: string;
  folder?: string;
  projectDir?: string;
  drainMs?: number;
  endsWithServer?: boolean;
}

export interface RunnerSettings {
  /** The runner's folder, which is its identity: only one process can run in it. */
  folder: string;
  name: string | undefined;
  profile: string;
  tags: readonly string[];
  projectDir: string | null;
  capacity: number;
  /** True if the scripted runtime may kill this process. */
  testCrash?: boolean;
  drainMs: number;
  native: NativeSettings;
  /** Address of the server, for models whose keys it keeps. */
  gateway: Gateway;
  /** True if the server runs it in its own process, or started it as a child that ends with it. */
  endsWithServer?: boolean;
  /** Runtimes offered beside the built-in ones. */
  runtimes?: readonly Runtime[];
}

/** An earlier process of this folder may need this long to end. */
const LOCK_WAIT_MS = 10_000;

export interface RunningRunner {
  runner: Runner;
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Ends the process as a power cut would. */
function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}

export function remoteTransport(serverUrl: string, token: string): Transport {
  return createWebSocketTransport({ serverUrl, token, clock: createSteadyClock() });
}

export async function startRunner(
  settings: RunnerSettings,
  transport: Transport,
  log: Log,
): Promise<RunningRunner> {
  ensurePrivateFolder(settings.folder);
  const lockFile = join(settings.folder, "runner.lock");
  ensurePrivateFile(lockFile);
  const lock = await acquireFileLock(lockFile, LOCK_WAIT_MS);
  const machine = ensureMachineIdentity(settings.folder);
  const native = await createNative(settings.native, settings, settings.gateway, log);
  const crash = settings.testCrash ? { crash: killSelf } : {};
  const runtimes = [
    native.runtime,
    createEchoRuntime(),
    createScriptedRuntime(crash),
    ...(settings.runtimes ?? []),
  ];
  const runner = new Runner({
    transport,
    runtimes,
    profile: {
      name: settings.name ?? hostname(),
      hostname: hostname(),
      folder: settings.folder,
      profile: settings.profile,
      projectDir: settings.projectDir,
      tags: [...settings.tags],
      runtimes: runtimes.map((runtime) => runtime.name),
      capacity: settings.capacity,
      models: native.models,
      sandbox: native.sandbox.report(),
      version: VERSION,
      endsWithServer: settings.endsWithServer ?? false,
    },
    prove: (bootId) => machine.prove(settings.gateway.token, bootId),
    ids: createIds(),
    log,
    clock: createSteadyClock(),
    graces: { drainMs: settings.drainMs },
    models: native.findModels,
    sandbox: native.sandbox,
    disk: native.disk,
  });
  try {
    await runner.start();
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    runner,
    async drain() {
      await runner.drain();
      lock.release();
    },
    async stop() {
      await runner.stop();
      lock.release();
    },
  };
}
