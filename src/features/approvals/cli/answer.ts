import type { Command } from "commander";
import type { Approval } from "#features/approvals/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { approvalPath } from "./decide.ts";

export function addApprovalsAnswerCommand(group: Command, host: CliHost): void {
  group
    .command("answer")
    .description("Answers an agent's questions, one argument for each, in order.")
    .argument("<id>", "the question")
    .argument("<answers...>", "the answers")
    .action((id: string, answers: string[], _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation
          .api()
          .call<{ approval: Approval }>(approvalPath(id), { method: "POST", body: { answers } });
        invocation.print(answer, ["Answered. The agent goes on."]);
        return DONE;
      }),
    );
}
