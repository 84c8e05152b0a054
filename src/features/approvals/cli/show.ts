import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { columnsOf, styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { describeApproval, describeDecision, describeQuestions } from "./ask.ts";

export function addApprovalsShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Show a request in full, character by character.")
    .argument("<id>", "the approval, question or plan")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const { approval } = await invocation.api().again.approvals.get({ id });
        const style = styleFor(host.stdout, host.env);
        const look = { style, columns: columnsOf(host.stdout) };
        const asked = approval.kind === "question" ? describeQuestions(approval, look) : [];
        const lines = [...describeApproval(approval, null, look), ...asked];
        if (approval.state !== "pending") lines.push(describeDecision(approval, ""));
        invocation.print({ approval }, lines);
        return DONE;
      }),
    );
}
