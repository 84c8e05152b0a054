import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addLoginLinkCommand(program: Command, host: CliHost): void {
  program
    .command("login-link")
    .description("Print a new one-time link that signs a browser in.")
    .action((_options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().auth.createLink();
        invocation.print(answer, [answer.link]);
        invocation.note(
          `Valid for one sign-in, until ${new Date(answer.expiresAt).toLocaleString()}.`,
        );
        return DONE;
      }),
    );
}
