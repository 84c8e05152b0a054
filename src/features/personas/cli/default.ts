import type { Command } from "commander";
import type { PersonaSummary } from "#features/personas/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { personasPath } from "./path.ts";

export function addPersonasDefaultCommand(group: Command, host: CliHost): void {
  group
    .command("default")
    .description("Makes a shared persona the one that sessions get when nothing else is said.")
    .argument("<persona>", "its slug or id")
    .option("--off", "it is the default no longer, and there is none")
    .action((name: string, { off = false }: { off?: boolean }, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const path = `${await personasPath(api, name)}/default`;
        const method = off ? "DELETE" : "PUT";
        const answer = await api.call<{ persona: PersonaSummary }>(path, { method });
        const { slug } = answer.persona;
        invocation.print(answer, [off ? `${slug} is not the default.` : `${slug} is the default.`]);
        return DONE;
      }),
    );
}
