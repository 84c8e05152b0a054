/** Hands the command line what it needs of the program. */
import { kernelMigrations } from "#engine/index.ts";
import { createProcessHost, createProgram } from "#surfaces/cli/index.ts";
import { features } from "./features.ts";
import { VERSION } from "./version.ts";

export async function runCli(
  args: string[],
  start: (args: string[]) => Promise<void>,
): Promise<void> {
  const host = createProcessHost({
    version: VERSION,
    env: process.env,
    startUp: () => start(["up"]),
    startServer: () => start(["server"]),
    startRunner: () => start(["runner"]),
    kernelMigrations: [
      ...kernelMigrations,
      ...features.flatMap((feature) => feature.migrations ?? []),
    ],
  });
  await createProgram(host).parseAsync(args, { from: "user" });
}
