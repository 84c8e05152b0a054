/** `muster secrets`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addSecretsLsCommand } from "./ls.ts";
import { addSecretsRmCommand } from "./rm.ts";
import { addSecretsSetCommand } from "./set.ts";

export function addSecretsCommands(program: Command, host: CliHost): void {
  const group = program
    .command("secrets")
    .description("Store, list and remove tokens and keys that are used by name.");
  addSecretsLsCommand(group, host);
  addSecretsSetCommand(group, host);
  addSecretsRmCommand(group, host);
}
