/** `muster personas`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addPersonasDefaultCommand } from "./personas-default.ts";
import { addPersonasExportCommand } from "./personas-export.ts";
import { addPersonasLsCommand } from "./personas-ls.ts";
import { addPersonasRmCommand } from "./personas-rm.ts";
import { addPersonasCreateCommand, addPersonasEditCommand } from "./personas-save.ts";
import { addPersonasShowCommand } from "./personas-show.ts";
import { addPersonasSkillsCommands } from "./personas-skills.ts";

export function addPersonasCommands(program: Command, host: CliHost): void {
  const group = program
    .command("personas")
    .description("What agents are told about how to work: list, show, create, edit, export.");
  addPersonasLsCommand(group, host);
  addPersonasShowCommand(group, host);
  addPersonasCreateCommand(group, host);
  addPersonasEditCommand(group, host);
  addPersonasDefaultCommand(group, host);
  addPersonasRmCommand(group, host);
  addPersonasExportCommand(group, host);
  addPersonasSkillsCommands(group, host);
}
