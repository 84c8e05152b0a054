/** `muster models`. */
import type { Command } from "commander";
import type { ModelCapability } from "#protocol/models.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable } from "#surfaces/cli/kit/text/terminal.ts";

export function addModelsCommand(program: Command, host: CliHost): void {
  program
    .command("models")
    .description("List models: which can be used, and what the others need.")
    .action((_options: object, command: Command) => perform(host, command, listModels));
}

async function listModels(invocation: Invocation): Promise<Ending> {
  const answer = await invocation.api().runners.models();
  if (invocation.json) {
    invocation.print(answer, []);
  } else if (answer.items.length === 0) {
    invocation.print(null, ["No models. Runners provide them: start one with npm start."]);
  } else {
    printTable(
      invocation.host,
      ["MODEL", "USABLE", "IN $/M", "OUT $/M", "WHAT TO DO"],
      answer.items.map(rowOf),
    );
  }
  return DONE;
}

function rowOf({ id, usable, why, price }: ModelCapability): string[] {
  const dollars = (micros: number | undefined) =>
    micros === undefined ? "unpriced" : (micros / 1e6).toFixed(2);
  return [
    id,
    usable ? "yes" : "no",
    dollars(price?.inputMicros),
    dollars(price?.outputMicros),
    why ?? "",
  ];
}
