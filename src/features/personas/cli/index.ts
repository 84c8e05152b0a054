/** `muster personas`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addPersonasDefaultCommand } from "./default.ts";
import { addPersonasExportCommand } from "./export.ts";
import { addPersonasLsCommand } from "./ls.ts";
import { addPersonasRmCommand } from "./rm.ts";
import { addPersonasCreateCommand, addPersonasEditCommand } from "./save.ts";
import { addPersonasShowCommand } from "./show.ts";
import { addPersonasSkillsCommands } from "./skills.ts";

export function addPersonasCommands(program: Command, host: CliHost): void {
  const group = program
    .command("personas")
    .description("Instructions for agents: list, show, create, edit and export personas.");
  addPersonasLsCommand(group, host);
  addPersonasShowCommand(group, host);
  addPersonasCreateCommand(group, host);
  addPersonasEditCommand(group, host);
  addPersonasDefaultCommand(group, host);
  addPersonasRmCommand(group, host);
  addPersonasExportCommand(group, host);
  addPersonasSkillsCommands(group, host);
}
