import { type Command, Option } from "commander";
import { APPROVAL_SCOPES, type Approval } from "#features/approvals/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

interface Options {
  scope: string;
  reason?: string;
}

const DONE_WORDS = { allow: "Allowed", deny: "Denied" } as const;

export function addApprovalsDecideCommands(group: Command, host: CliHost): void {
  for (const decision of ["allow", "deny"] as const) {
    group
      .command(decision)
      .description(decision === "allow" ? "Lets the agent do it." : "Does not let the agent do it.")
      .argument("<id>", "the approval")
      .addOption(
        new Option("--scope <scope>", "how long it holds").choices(APPROVAL_SCOPES).default("once"),
      )
      .option("--reason <text>", "what the agent is told")
      .action((id: string, { scope, reason }: Options, command: Command) =>
        perform(host, command, async (invocation) => {
          const answer = await invocation.api().call<{ approval: Approval }>(approvalPath(id), {
            method: "POST",
            body: { decision, scope, reason },
          });
          invocation.print(answer, [`${DONE_WORDS[decision]} (${scope}). The agent goes on.`]);
          return DONE;
        }),
      );
  }
}

export function addApprovalsReviseCommand(group: Command, host: CliHost): void {
  group
    .command("revise")
    .description("Sends a plan back; the agent presents another.")
    .argument("<id>", "the plan")
    .argument("<words>", "what is to be changed")
    .action((id: string, reason: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().call<{ approval: Approval }>(approvalPath(id), {
          method: "POST",
          body: { decision: "revise", reason },
        });
        invocation.print(answer, ["Sent back. The agent changes its plan."]);
        return DONE;
      }),
    );
}

export function approvalPath(id: string): string {
  return `/api/approvals/${encodeURIComponent(id)}`;
}
