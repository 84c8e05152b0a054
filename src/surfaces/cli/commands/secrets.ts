/** `muster secrets`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addSecretsLsCommand } from "./secrets-ls.ts";
import { addSecretsRmCommand } from "./secrets-rm.ts";
import { addSecretsSetCommand } from "./secrets-set.ts";

export function addSecretsCommands(program: Command, host: CliHost): void {
  const group = program
    .command("secrets")
    .description("Store tokens and keys that are used by name, list them, remove them.");
  addSecretsLsCommand(group, host);
  addSecretsSetCommand(group, host);
  addSecretsRmCommand(group, host);
}
