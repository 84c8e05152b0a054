import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addApprovalsAnswerCommand(group: Command, host: CliHost): void {
  group
    .command("answer")
    .description("Answer an agent's questions, one argument per question, in order.")
    .argument("<id>", "the question")
    .argument("<answers...>", "the answers")
    .action((id: string, answers: string[], _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().approvals.decide({ id, body: { answers } });
        invocation.print(answer, ["Answered. The agent continues."]);
        return DONE;
      }),
    );
}
