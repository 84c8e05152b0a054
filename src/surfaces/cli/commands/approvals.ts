/** `muster approvals`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "../host.ts";
import { addApprovalsAnswerCommand } from "./approvals-answer.ts";
import { addApprovalsDecideCommands, addApprovalsReviseCommand } from "./approvals-decide.ts";
import { addApprovalsLsCommand } from "./approvals-ls.ts";
import { addApprovalsShowCommand } from "./approvals-show.ts";

export function addApprovalsCommands(program: Command, host: CliHost): void {
  const group = program
    .command("approvals")
    .description("See what your agents ask of you, and decide.");
  addApprovalsLsCommand(group, host);
  addApprovalsShowCommand(group, host);
  addApprovalsDecideCommands(group, host);
  addApprovalsReviseCommand(group, host);
  addApprovalsAnswerCommand(group, host);
}
