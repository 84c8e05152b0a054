import type { Command } from "commander";
import { isLoopback } from "#surfaces/cli/client/find-server.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";

export function addRunnersTokenCommand(group: Command, host: CliHost): void {
  group
    .command("token")
    .description("Makes a token that lets a new runner in. It is shown once.")
    .argument("<name>", "what to call it")
    .option("--tag <tag>", "a tag of the runner; may be given several times", collect)
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
  invocation.note("The token is not shown again.");
  if (isLoopback(api.url)) {
    invocation.note(
      "From another machine, put an address in MUSTER_SERVER at which it reaches this server.",
    );
  }
  return DONE;
}
