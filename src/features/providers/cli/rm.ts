import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addProvidersRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Remove a provider and its key from the settings.")
    .argument("<name>", "the provider")
    .action((name: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().providers.delete({ name });
        invocation.print(answer, [`${name} is removed.`]);
        return DONE;
      }),
    );
}
