/** `muster memory add`, `edit`, `pin`, `unpin`, `forget` and `prune`. */
import { type Command, InvalidArgumentError } from "commander";
import {
  CATEGORIES,
  MAX_CONTENT_CHARS,
  type Memory,
  type MemoryChange,
} from "#features/memory/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { readInput } from "#surfaces/cli/kit/read-input.ts";
import { REPO_OPTION, type RepoOption, shownMemory } from "./shelf.ts";

const OFFERED = `such as ${CATEGORIES.join(", ")}`;

interface TextOptions {
  category?: string;
  title?: string;
}
interface AddOptions extends TextOptions, RepoOption {
  pin?: boolean;
}
interface EditOptions extends TextOptions {
  content?: string;
}
interface PruneOptions {
  below?: number;
  unusedDays?: number;
  category?: string;
  dryRun?: boolean;
}

export function addMemoryChangeCommands(group: Command, host: CliHost): void {
  group
    .command("add")
    .description("Has something remembered. What is about the same is replaced.")
    .argument("[text]", "what to remember; read from standard input when left out")
    .option("--category <category>", OFFERED)
    .option("--title <title>", "its topic: the same title replaces it")
    .option("--pin", "keep it whatever happens")
    .option(...REPO_OPTION)
    .action((text: string | undefined, options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => add(invocation, text, options)),
    );
  group
    .command("edit")
    .description("Changes what a memory says. What is not said stays.")
    .argument("<id>")
    .option("--content <text>", "what it says now; - reads it from standard input")
    .option("--category <category>", OFFERED)
    .option("--title <title>", "its topic; empty for none")
    .action((id: string, options: EditOptions, command: Command) =>
      perform(host, command, (invocation) => edit(invocation, id, options)),
    );
  for (const pinned of [true, false])
    group
      .command(pinned ? "pin" : "unpin")
      .description(
        pinned
          ? "Pins a memory: it is never pruned, and agents cannot change it."
          : "Lets a memory fade like any other.",
      )
      .argument("<id>")
      .action((id: string, _options: object, command: Command) =>
        perform(host, command, (invocation) => pin(invocation, id, pinned)),
      );
  group
    .command("forget")
    .description("Forgets memories for good.")
    .argument("<ids...>")
    .action((ids: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => forget(invocation, ids)),
    );
  addPruneCommand(group, host);
}

function addPruneCommand(group: Command, host: CliHost): void {
  group
    .command("prune")
    .description(
      "Clears out what hardly counts any more, and says what went. Never what is pinned.",
    )
    .option("--below <relevance>", "whatever is less relevant, from 0 to 2 (else 0.1)", numberOf)
    .option("--unused-days <n>", "only what was not read for so long", numberOf)
    .option("--category <category>", "only of this category")
    .option("--dry-run", "only say what would go")
    .action((options: PruneOptions, command: Command) =>
      perform(host, command, (invocation) => prune(invocation, options)),
    );
}

function numberOf(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number >= 0) return number;
  throw new InvalidArgumentError("Use a number.");
}

async function add(
  invocation: Invocation,
  text: string | undefined,
  { category, title, pin: pinned, repo }: AddOptions,
): Promise<Ending> {
  const content = text ?? (await readText(invocation.host));
  const fields = { content, category, title, pinned };
  const api = invocation.api();
  const response =
    repo === undefined
      ? await api.memory.create({ body: fields })
      : await api.memory.createSession({ body: { ...fields, repo } });
  const { memory, replaced, pruned } = response;
  invocation.print(response, [
    ...(replaced ? await replacedLines(api, memory.id) : [`${memory.id} is remembered.`]),
    ...pruned.map((gone) => `To make room ${gone.id} went: ${shownMemory(gone)}`),
  ]);
  return DONE;
}

/** Shows the replaced text: the memory was found by its words, so the owner should see which one it was. */
async function replacedLines(api: Api, id: string): Promise<string[]> {
  const { history } = await api.again.memory.get({ id });
  const [before] = history;
  const was = before ? ` It said before: ${shownMemory(before)}` : "";
  return [
    `${id} was about the same and says this now.${was}`,
    `See all of it with: muster memory show ${id}`,
  ];
}

async function edit(
  invocation: Invocation,
  id: string,
  { content, category, title }: EditOptions,
): Promise<Ending> {
  const body = {
    content: content === "-" ? await readText(invocation.host) : content,
    category,
    title: title === "" ? null : title,
  };
  return change(invocation, id, body, "is changed");
}

function pin(invocation: Invocation, id: string, pinned: boolean): Promise<Ending> {
  return change(invocation, id, { pinned }, pinned ? "is pinned" : "is no longer pinned");
}

async function change(
  invocation: Invocation,
  id: string,
  body: MemoryChange,
  done: string,
): Promise<Ending> {
  const response = await invocation.api().memory.update({ id, body });
  invocation.print(response, [`${id} ${done}: ${shownMemory(response.memory)}`]);
  return DONE;
}

async function forget(invocation: Invocation, ids: readonly string[]): Promise<Ending> {
  const api = invocation.api();
  const forgotten: Memory[] = [];
  for (const id of ids) forgotten.push((await api.memory.delete({ id })).memory);
  invocation.print(
    { forgotten },
    forgotten.map((memory) => `${memory.id} is forgotten: ${shownMemory(memory)}`),
  );
  return DONE;
}

async function prune(
  invocation: Invocation,
  { below, unusedDays, category, dryRun = false }: PruneOptions,
): Promise<Ending> {
  const body = { below, unusedDays, category, dryRun };
  const response = await invocation.api().memory.prune({ body });
  const { pruned, more } = response;
  const lines = pruned.map((memory) => `${memory.id} ${memory.category}  ${shownMemory(memory)}`);
  const count = pruned.length === 1 ? "1 memory" : `${pruned.length} memories`;
  const end = dryRun ? `${count} would go.` : `${count} went.`;
  invocation.print(response, [...lines, more ? `${end} There is more: run it again.` : end]);
  return DONE;
}

const readText = (host: CliHost) =>
  readInput(host, MAX_CONTENT_CHARS, "Say what is to be remembered, or pipe it in.");
