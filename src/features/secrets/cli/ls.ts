import type { Command } from "commander";
import type { Secret } from "#features/secrets/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { ORG_OPTION, openSecretStore, type SecretsOptions } from "./secret-store.ts";

const DESCRIPTION_WIDTH = 60;

export function addSecretsLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List secrets by name, without their values.")
    .option(...ORG_OPTION)
    .action((options: SecretsOptions, command: Command) =>
      perform(host, command, (invocation) => listSecrets(invocation, options)),
    );
}

async function listSecrets(invocation: Invocation, options: SecretsOptions): Promise<Ending> {
  const store = await openSecretStore(invocation.api(), options);
  const items = await store.list();
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["No secrets. Store one with: muster secrets set NAME"]);
  } else {
    printTable(invocation.host, ["NAME", "VERSION", "CHANGED", "USED", "ABOUT"], items.map(rowOf));
  }
  return DONE;
}

function rowOf({ name, version, updatedAt, lastUsedAt, problem, description }: Secret): string[] {
  return [
    name,
    String(version),
    timeAgo(updatedAt),
    timeAgo(lastUsedAt),
    problem ?? shorten(description ?? "", DESCRIPTION_WIDTH),
  ];
}
