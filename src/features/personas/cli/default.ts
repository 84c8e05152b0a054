import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export function addPersonasDefaultCommand(group: Command, host: CliHost): void {
  group
    .command("default")
    .description("Make a shared persona the default for new sessions.")
    .argument("<persona>", "its slug or id")
    .option("--off", "stop using it as the default, and have none")
    .action((name: string, { off = false }: { off?: boolean }, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const persona = { orgId: await resolveOrgId(api), id: name };
        const response = off
          ? await api.personas.unsetDefault(persona)
          : await api.personas.setDefault(persona);
        const { slug } = response.persona;
        invocation.print(response, [
          off ? `${slug} is no longer the default.` : `${slug} is now the default.`,
        ]);
        return DONE;
      }),
    );
}
