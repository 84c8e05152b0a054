/** `muster providers`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addProvidersGatewayCommand } from "./providers-gateway.ts";
import { addProvidersLsCommand } from "./providers-ls.ts";
import { addProvidersRmCommand } from "./providers-rm.ts";
import { addProvidersSetCommand } from "./providers-set.ts";

export function addProvidersCommands(program: Command, host: CliHost): void {
  const group = program
    .command("providers")
    .description("List model providers, give the server their addresses and keys, remove them.");
  addProvidersLsCommand(group, host);
  addProvidersSetCommand(group, host);
  addProvidersRmCommand(group, host);
  addProvidersGatewayCommand(group, host);
}
