/** Passes the program's dependencies to the command line. */

import type { Environment } from "#base/config.ts";
import { silentLog } from "#base/log.ts";
import { kernelMigrations } from "#engine/index.ts";
import { authMigrations } from "#features/auth/index.ts";
import { orgMigrations } from "#features/orgs/index.ts";
import { DEFAULT_TURN_LIMITS } from "#protocol/frames.ts";
import { createProcessHost, createProgram } from "#surfaces/cli/index.ts";
import { commands } from "./commands.ts";
import { createFeatures, ENCRYPTED_COLUMNS } from "./features.ts";
import type { RunnerStart } from "./runner/runner.ts";
import { VERSION } from "./version.ts";

/** Tables do not depend on the key that some of their content is encrypted with. */
export const ALL_MIGRATIONS = [
  ...kernelMigrations,
  ...authMigrations,
  ...orgMigrations,
  ...createFeatures({
    secretKey: "",
    searchPath: "",
    log: silentLog,
    providers: {},
    turnLimits: DEFAULT_TURN_LIMITS,
    orchestration: { disabled: false, minimalUi: false, maxWorkers: 1, allowDelete: false },
  }).list.flatMap((feature) => feature.migrations ?? []),
];

export interface Starters {
  serve(command: "up" | "server", env: Environment): Promise<void>;
  runRunner(start: RunnerStart): Promise<void>;
}

export async function runCli(args: string[], { serve, runRunner }: Starters): Promise<void> {
  const host = createProcessHost({
    version: VERSION,
    env: process.env,
    startUp: ({ env }) => serve("up", env),
    startServer: ({ env }) => serve("server", env),
    startRunner: runRunner,
    kernelMigrations: ALL_MIGRATIONS,
    encryptedColumns: ENCRYPTED_COLUMNS,
  });
  await createProgram(host, commands).parseAsync(args, { from: "user" });
}
