/** `muster sessions`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addSessionsLsCommand } from "./sessions-ls.ts";
import { addSessionsRmCommand } from "./sessions-rm.ts";
import { addSessionsShowCommand } from "./sessions-show.ts";
import { addSessionsStopCommand } from "./sessions-stop.ts";

export function addSessionsCommands(program: Command, host: CliHost): void {
  const group = program.command("sessions").description("List, look at, stop and remove sessions.");
  addSessionsLsCommand(group, host);
  addSessionsShowCommand(group, host);
  addSessionsStopCommand(group, host);
  addSessionsRmCommand(group, host);
}
