/** `muster repos`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addReposAddCommand } from "./add.ts";
import { addReposLsCommand } from "./ls.ts";
import { addReposRmCommand } from "./rm.ts";
import { addReposSyncCommand } from "./sync.ts";

export function addReposCommands(program: Command, host: CliHost): void {
  const group = program
    .command("repos")
    .description("List repositories, add them by hand or from GitHub, remove them.");
  addReposLsCommand(group, host);
  addReposAddCommand(group, host);
  addReposRmCommand(group, host);
  addReposSyncCommand(group, host);
}
