/** `muster tasks`: the group; its commands are in the files beside it. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addTasksAddCommand } from "./add.ts";
import { addTasksChangeCommands } from "./change.ts";
import { addTasksLsCommands } from "./ls.ts";
import { addTasksRmCommand } from "./rm.ts";
import { addTasksShowCommand } from "./show.ts";

export function addTasksCommands(program: Command, host: CliHost): void {
  const group = program
    .command("tasks")
    .description("The task board of your orchestrator or of another session.");
  addTasksLsCommands(group, host);
  addTasksAddCommand(group, host);
  addTasksShowCommand(group, host);
  addTasksChangeCommands(group, host);
  addTasksRmCommand(group, host);
}
