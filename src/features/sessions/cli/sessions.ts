/** `muster sessions`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addSessionsLeadCommands } from "./sessions-lead.ts";
import { addSessionsLsCommand } from "./sessions-ls.ts";
import { addSessionsRedactCommand } from "./sessions-redact.ts";
import { addSessionsRestCommands } from "./sessions-rest.ts";
import { addSessionsRetryCommand } from "./sessions-retry.ts";
import { addSessionsRmCommand } from "./sessions-rm.ts";
import { addSessionsSetCommand } from "./sessions-set.ts";
import { addSessionsShowCommand } from "./sessions-show.ts";
import { addSessionsStopCommand } from "./sessions-stop.ts";
import { addSessionsTreeCommand } from "./sessions-tree.ts";

export function addSessionsCommands(program: Command, host: CliHost): void {
  const group = program
    .command("sessions")
    .description("List, read, change, steer, stop, retry, pause and end sessions.");
  addSessionsLsCommand(group, host);
  addSessionsShowCommand(group, host);
  addSessionsTreeCommand(group, host);
  addSessionsStopCommand(group, host);
  addSessionsRetryCommand(group, host);
  addSessionsSetCommand(group, host);
  addSessionsLeadCommands(group, host);
  addSessionsRedactCommand(group, host);
  addSessionsRestCommands(group, host);
  addSessionsRmCommand(group, host);
}
