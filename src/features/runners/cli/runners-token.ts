import type { Command } from "commander";
import { isLoopback } from "#surfaces/cli/client/find-server.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";

export function addRunnersTokenCommand(group: Command, host: CliHost): void {
  group
    .command("token")
    .description("Create a token for a new runner. It is shown once.")
    .argument("<name>", "the runner's name")
    .option("--tag <tag>", "a tag of the runner; can be repeated", collect)
    .action((name: string, options: { tag?: string[] }, command: Command) =>
      perform(host, command, (invocation) => makeToken(invocation, name, options.tag ?? [])),
    );
}

function collect(tag: string, before: string[] = []): string[] {
  return [...before, tag];
}

async function makeToken(invocation: Invocation, name: string, tags: string[]): Promise<Ending> {
  const api = invocation.api();
  const body = { name, ...(tags.length > 0 ? { tags } : {}) };
  const answer = await api.runnerTokens.create({ body });
  const command = `MUSTER_SERVER=${api.url} MUSTER_TOKEN=${answer.token} npx muster runner`;
  invocation.print({ ...answer, command }, [
    "Start the runner on its machine with:",
    "",
    `  ${command}`,
    "",
  ]);
  invocation.note("The token will not be shown again.");
  if (isLoopback(api.url)) {
    invocation.note(
      "On another machine, set MUSTER_SERVER to an address at which it reaches this server.",
    );
  }
  return DONE;
}
