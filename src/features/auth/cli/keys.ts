/** `muster keys`: keys for programs. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { KEY_SCOPES } from "#features/auth/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const DAY_MS = 24 * 60 * 60_000;

type KeyScope = (typeof KEY_SCOPES)[number];

interface AddOptions {
  scope: KeyScope[];
  days?: number;
}

export function addKeysCommands(program: Command, host: CliHost): void {
  const group = program.command("keys").description("List, create and revoke your API keys.");
  group
    .command("ls")
    .description("List your keys and when they were last used.")
    .action((_options: object, command: Command) => perform(host, command, listKeys));
  group
    .command("add")
    .description("Create a key. It is shown once.")
    .argument("<name>", "what the key is for")
    .addOption(
      new Option("--scope <scope>", "what the key may do; can be repeated")
        .choices(KEY_SCOPES)
        .argParser(collectScope)
        .makeOptionMandatory(),
    )
    .option("--days <days>", "days until it expires (default: never)", parseDays)
    .action((name: string, options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => addKey(invocation, name, options)),
    );
  group
    .command("rm")
    .description("Revoke a key and everything that was created with it.")
    .argument("<id>", "the key's id, not the key")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().me.revokeApiKey({ id });
        invocation.print(answer, [`${id} is revoked.`]);
        return DONE;
      }),
    );
}

async function listKeys(invocation: Invocation): Promise<Ending> {
  const items = await invocation.api().me.listApiKeys();
  if (invocation.json) invocation.print({ ...items, next: null }, []);
  else if (items.items.length === 0)
    invocation.print(null, [
      "No keys. Create one with: muster keys add NAME --scope sessions:read",
    ]);
  else
    printTable(
      invocation.host,
      ["ID", "NAME", "USED", "ENDS", "SCOPES"],
      items.items.map((key) => [
        key.id,
        key.name,
        timeAgo(key.lastUsedAt),
        key.expiresAt?.slice(0, 10) ?? "never",
        key.scopes.join(","),
      ]),
    );
  return DONE;
}

async function addKey(
  invocation: Invocation,
  name: string,
  { scope, days }: AddOptions,
): Promise<Ending> {
  const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * DAY_MS);
  const body = {
    name,
    scopes: scope,
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
  };
  const answer = await invocation.api().me.createApiKey({ body });
  invocation.print(answer, [answer.key]);
  invocation.note("The key will not be shown again.");
  return DONE;
}

function collectScope(text: string, before: KeyScope[] | undefined): KeyScope[] {
  const scope = KEY_SCOPES.find((known) => known === text);
  if (scope === undefined)
    throw new InvalidArgumentError(`Allowed choices are ${KEY_SCOPES.join(", ")}.`);
  return [...(before ?? []), scope];
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days <= 3_650)) throw new InvalidArgumentError("Use a number from 1 to 3650.");
  return days;
}
