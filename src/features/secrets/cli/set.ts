import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import { MAX_SECRET_BYTES } from "#features/secrets/contract.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { askHidden } from "#surfaces/cli/kit/hidden-input.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { ORG_OPTION, openSecretStore, type SecretsOptions } from "./secret-store.ts";

interface SetOptions extends SecretsOptions {
  description?: string;
}

/** The value has no option: everybody on the machine can see arguments. */
export function addSecretsSetCommand(group: Command, host: CliHost): void {
  group
    .command("set")
    .description(
      "Store a secret or replace its value. The value is piped in through standard input (one final line break is dropped), or asked for.",
    )
    .argument("<name>", "its name, such as GITHUB_TOKEN")
    .option(...ORG_OPTION)
    .option("--description <text>", "what it is for")
    .action((name: string, options: SetOptions, command: Command) =>
      perform(host, command, (invocation) => setSecret(invocation, name, options)),
    );
}

async function setSecret(
  invocation: Invocation,
  name: string,
  { description, ...options }: SetOptions,
): Promise<Ending> {
  const api = invocation.api();
  const value = await readValue(invocation.host, name);
  if (value === null) return EXIT.interrupted;
  const store = await openSecretStore(api, options);
  const body = { value, ...(description === undefined ? {} : { description }) };
  const answer = await store.set(name, body);
  const { secret } = answer;
  invocation.print(answer, [
    secret.version === 1
      ? `${secret.name} is stored.`
      : `${secret.name} has a new value (version ${secret.version}).`,
  ]);
  return DONE;
}

/** Returns null when the person cancels. */
async function readValue(host: CliHost, name: string): Promise<string | null> {
  const value =
    host.stdin.isTTY === true
      ? await askHidden(host, `Value of ${name} (hidden): `)
      : await readPiped(host);
  if (value !== "") return value;
  throw new Refusal(
    "invalid",
    "value_missing",
    "No value was given. Type it at the prompt, or pipe it in.",
  );
}

/** Reads all lines: keys in files have many. */
async function readPiped(host: CliHost): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of host.stdin) {
    const piece = Buffer.from(chunk);
    chunks.push(piece);
    bytes += piece.length;
    // One line break beyond the limit may still be trimmed.
    if (bytes > MAX_SECRET_BYTES + 2) {
      throw new Refusal(
        "too_large",
        "secret_too_large",
        `A secret holds at most ${MAX_SECRET_BYTES / 1024} KiB. Keep only the key or token itself.`,
      );
    }
  }
  return textOf(Buffer.concat(chunks)).replace(/\r?\n$/, "");
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal(
      "invalid",
      "value_not_text",
      "The value is not text in UTF-8. Encode it first, for example with base64.",
    );
  }
}
