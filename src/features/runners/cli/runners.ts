/** `muster runners`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addRunnersLsCommand } from "./runners-ls.ts";
import { addRunnersRmCommand } from "./runners-rm.ts";
import { addRunnersSandboxCommands } from "./runners-sandbox.ts";
import { addRunnersTokenCommand } from "./runners-token.ts";
import { addRunnersTokensCommands } from "./runners-tokens.ts";

export function addRunnersCommands(program: Command, host: CliHost): void {
  const group = program.command("runners").description("List, add and remove runners.");
  addRunnersLsCommand(group, host);
  addRunnersTokenCommand(group, host);
  addRunnersTokensCommands(group, host);
  addRunnersSandboxCommands(group, host);
  addRunnersRmCommand(group, host);
}
