/** `muster approvals`: the group; each of its commands has its own file. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { addApprovalsAnswerCommand } from "./answer.ts";
import { addApprovalsDecideCommands, addApprovalsReviseCommand } from "./decide.ts";
import { addApprovalsLsCommand } from "./ls.ts";
import { addApprovalsShowCommand } from "./show.ts";

export function addApprovalsCommands(program: Command, host: CliHost): void {
  const group = program
    .command("approvals")
    .description("See what your agents ask you, and decide.");
  addApprovalsLsCommand(group, host);
  addApprovalsShowCommand(group, host);
  addApprovalsDecideCommands(group, host);
  addApprovalsReviseCommand(group, host);
  addApprovalsAnswerCommand(group, host);
}

export {
  type ApprovalLook,
  approvalLabel,
  describeApproval,
  describeDecision,
  describeQuestion,
  isYes,
  readAnswer,
} from "./ask.ts";
