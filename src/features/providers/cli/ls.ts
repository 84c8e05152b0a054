import type { Command } from "commander";
import type { Provider } from "#features/providers/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

export function addProvidersLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List the providers from the settings, without their keys.")
    .action((_options: object, command: Command) => perform(host, command, listProviders));
}

async function listProviders(invocation: Invocation): Promise<Ending> {
  const answer = await invocation.api().providers.list();
  if (invocation.json) {
    invocation.print(answer, []);
  } else if (answer.items.length === 0) {
    invocation.print(null, [
      "No providers in settings. Add one with: muster providers set NAME --kind KIND",
    ]);
  } else {
    printTable(
      invocation.host,
      ["NAME", "KIND", "ADDRESS", "KEY", "MODELS", "CHANGED", "WHAT TO DO"],
      answer.items.map(rowOf),
    );
  }
  return DONE;
}

function rowOf(provider: Provider): string[] {
  const { name, kind, baseUrl, hasKey, keyEnd, models, problem, updatedAt } = provider;
  const key = hasKey ? `…${keyEnd ?? ""}` : "none";
  return [
    name,
    kind,
    baseUrl ?? "–",
    problem === null ? key : "unreadable",
    models === null ? "as it says" : String(models.length),
    timeAgo(updatedAt),
    problem ?? "",
  ];
}
