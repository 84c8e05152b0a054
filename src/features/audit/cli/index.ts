/** `muster audit`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addAuditLsCommand } from "./ls.ts";
import { addAuditVerifyCommand } from "./verify.ts";

export function addAuditCommands(program: Command, host: CliHost): void {
  const group = program.command("audit").description("Read and verify the audit trail.");
  addAuditLsCommand(group, host);
  addAuditVerifyCommand(group, host);
}
