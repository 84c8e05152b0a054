/** `muster inbox`: the group; its commands are in the files beside it. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addInboxChangeCommands } from "./change.ts";
import { addInboxContactsCommands } from "./contacts.ts";
import { addInboxLsCommands } from "./ls.ts";
import { addInboxShowCommand } from "./show.ts";
import { addInboxWriteCommands } from "./write.ts";

export function addInboxCommands(program: Command, host: CliHost): void {
  const group = program.command("inbox").description("Reads and sends messages.");
  addInboxLsCommands(group, host);
  addInboxShowCommand(group, host);
  addInboxWriteCommands(group, host);
  addInboxChangeCommands(group, host);
  addInboxContactsCommands(group, host);
}

export { FILL_LIST, readContacts } from "./contacts.ts";
