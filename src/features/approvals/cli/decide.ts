import { type Command, Option } from "commander";
import { APPROVAL_SCOPES } from "#features/approvals/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

interface Options {
  scope: (typeof APPROVAL_SCOPES)[number];
  reason?: string;
}

const DONE_WORDS = { allow: "Allowed", deny: "Denied" } as const;

export function addApprovalsDecideCommands(group: Command, host: CliHost): void {
  for (const decision of ["allow", "deny"] as const) {
    group
      .command(decision)
      .description(
        decision === "allow" ? "Allow the agent's request." : "Deny the agent's request.",
      )
      .argument("<id>", "the approval")
      .addOption(
        new Option("--scope <scope>", "how long the decision holds")
          .choices(APPROVAL_SCOPES)
          .default("once"),
      )
      .option("--reason <text>", "reason for the agent")
      .action((id: string, { scope, reason }: Options, command: Command) =>
        perform(host, command, async (invocation) => {
          const body = { decision, scope, reason };
          const answer = await invocation.api().approvals.decide({ id, body });
          invocation.print(answer, [`${DONE_WORDS[decision]} (${scope}). The agent continues.`]);
          return DONE;
        }),
      );
  }
}

export function addApprovalsReviseCommand(group: Command, host: CliHost): void {
  group
    .command("revise")
    .description("Send a plan back; the agent presents a new one.")
    .argument("<id>", "the plan")
    .argument("<words>", "what to change")
    .action((id: string, reason: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const body = { decision: "revise", reason } as const;
        const answer = await invocation.api().approvals.decide({ id, body });
        invocation.print(answer, ["Sent back. The agent revises its plan."]);
        return DONE;
      }),
    );
}
