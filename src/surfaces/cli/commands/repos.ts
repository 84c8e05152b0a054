/** `muster repos`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addReposAddCommand } from "./repos-add.ts";
import { addReposLsCommand } from "./repos-ls.ts";
import { addReposRmCommand } from "./repos-rm.ts";
import { addReposSyncCommand } from "./repos-sync.ts";

export function addReposCommands(program: Command, host: CliHost): void {
  const group = program
    .command("repos")
    .description("List repositories, add them by hand or from GitHub, remove them.");
  addReposLsCommand(group, host);
  addReposAddCommand(group, host);
  addReposRmCommand(group, host);
  addReposSyncCommand(group, host);
}
