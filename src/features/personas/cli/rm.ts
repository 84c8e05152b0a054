import type { Command } from "commander";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export function addPersonasRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Delete a persona. Sessions that use it keep their version.")
    .argument("<persona>", "its slug or id")
    .option("--yes", "skip the question")
    .action((name: string, { yes = false }: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => removePersona(invocation, name, yes)),
    );
}

async function removePersona(
  invocation: Invocation,
  name: string,
  isSure: boolean,
): Promise<Ending> {
  const { host } = invocation;
  const api = invocation.api();
  const mustAsk = host.stdin.isTTY === true && !isSure;
  if (mustAsk && !(await confirm(host, `Delete ${name} and all its versions?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const response = await api.personas.delete({ orgId: await resolveOrgId(api), id: name });
  const { slug, archivedAt } = response.persona;
  invocation.print(response, [
    archivedAt === null
      ? `${slug} is deleted.`
      : `${slug} is archived. Sessions that use it keep their version.`,
  ]);
  return DONE;
}
