import { type Command, Option } from "commander";
import { PROVIDER_KINDS } from "#features/providers/contract.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { readKey } from "./key.ts";

interface SetOptions {
  kind: (typeof PROVIDER_KINDS)[number];
  baseUrl?: string;
  keyStdin?: boolean;
  model?: string[];
}

/** The key has no option: everybody on the machine can see arguments. */
export function addProvidersSetCommand(group: Command, host: CliHost): void {
  group
    .command("set")
    .description("Add or change a provider. Its key is asked for, or read with --key-stdin.")
    .argument("<name>", "its name; models are then NAME/MODEL")
    .addOption(
      new Option("--kind <kind>", "the protocol it speaks")
        .choices(PROVIDER_KINDS)
        .makeOptionMandatory(),
    )
    .option("--base-url <url>", "its address, if not the default of its kind")
    .option("--key-stdin", "read the key from standard input")
    .option("--model <model>", "a model it offers; can be repeated", collect)
    .action((name: string, options: SetOptions, command: Command) =>
      perform(host, command, (invocation) => setProvider(invocation, name, options)),
    );
}

function collect(model: string, before: string[] = []): string[] {
  return [...before, model];
}

async function setProvider(
  invocation: Invocation,
  name: string,
  { kind, baseUrl, keyStdin = false, model }: SetOptions,
): Promise<Ending> {
  const api = invocation.api();
  const apiKey = await readKey(invocation.host, name, keyStdin);
  if (apiKey === null) return EXIT.interrupted;
  const body = {
    kind,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(model === undefined ? {} : { models: model }),
  };
  const answer = await api.providers.set({ name, body });
  const { provider } = answer;
  const key = provider.hasKey ? "with a key" : "without a key";
  invocation.print(answer, [
    `${provider.name} is set: ${provider.kind} at ${provider.baseUrl ?? "its address"}, ${key}.`,
  ]);
  if (!provider.answered)
    invocation.note(
      "It has no list of models, so the key was not tried. Its models are not chosen automatically until it has answered once.",
    );
  return DONE;
}
