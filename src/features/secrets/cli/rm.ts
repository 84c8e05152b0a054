import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { ORG_OPTION, openSecretStore, type SecretsOptions } from "./secret-store.ts";

export function addSecretsRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Remove a secret. Whatever uses it by name will report that it is missing.")
    .argument("<name>", "the secret")
    .option(...ORG_OPTION)
    .action((name: string, options: SecretsOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const store = await openSecretStore(invocation.api(), options);
        invocation.print(await store.delete(name), [`${name} is removed.`]);
        return DONE;
      }),
    );
}
