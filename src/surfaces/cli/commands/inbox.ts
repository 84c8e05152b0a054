/** `muster inbox`: the group; its commands are in the files beside it. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addInboxChangeCommands } from "./inbox-change.ts";
import { addInboxContactsCommands } from "./inbox-contacts.ts";
import { addInboxLsCommands } from "./inbox-ls.ts";
import { addInboxShowCommand } from "./inbox-show.ts";
import { addInboxWriteCommands } from "./inbox-write.ts";

export function addInboxCommands(program: Command, host: CliHost): void {
  const group = program
    .command("inbox")
    .description("Letters to you from agents and people, and writing to them.");
  addInboxLsCommands(group, host);
  addInboxShowCommand(group, host);
  addInboxWriteCommands(group, host);
  addInboxChangeCommands(group, host);
  addInboxContactsCommands(group, host);
}
