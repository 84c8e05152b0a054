/** `muster memory`: the group; its commands are in the files beside it. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addMemoryChangeCommands } from "./change.ts";
import { addMemoryFindCommands } from "./find.ts";
import { addMemoryFolderCommands } from "./folder.ts";

export function addMemoryCommands(program: Command, host: CliHost): void {
  const group = program
    .command("memory")
    .description("List, search and change the memories of your orchestrator and your sessions.");
  addMemoryFindCommands(group, host);
  addMemoryChangeCommands(group, host);
  addMemoryFolderCommands(group, host);
}
