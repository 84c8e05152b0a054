/** The command line as a separate process, for tests that send it signals. */

import { kernelMigrations } from "#engine/migrations.ts";
import { commands } from "#main/commands.ts";
import { createProcessHost, createProgram } from "#surfaces/cli/index.ts";

const notHere = async () => {
  throw new Error("not in this test");
};
const host = createProcessHost({
  version: "1.2.3",
  env: process.env,
  kernelMigrations,
  encryptedColumns: [],
  startUp: notHere,
  startServer: notHere,
  startRunner: notHere,
});
await createProgram(host, commands).parseAsync(process.argv.slice(2), { from: "user" });
