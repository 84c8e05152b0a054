/** `muster providers`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addProvidersGatewayCommand } from "./gateway.ts";
import { addProvidersLsCommand } from "./ls.ts";
import { addProvidersRmCommand } from "./rm.ts";
import { addProvidersSetCommand } from "./set.ts";

export function addProvidersCommands(program: Command, host: CliHost): void {
  const group = program
    .command("providers")
    .description("List, add, change and remove model providers.");
  addProvidersLsCommand(group, host);
  addProvidersSetCommand(group, host);
  addProvidersRmCommand(group, host);
  addProvidersGatewayCommand(group, host);
}
