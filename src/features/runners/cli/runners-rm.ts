import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addRunnersRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Remove a runner and revoke its token. Its runs go to other runners.")
    .argument("<id>", "the runner")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().runners.delete({ id });
        invocation.print(answer, [`${id} is removed.`]);
        return DONE;
      }),
    );
}
