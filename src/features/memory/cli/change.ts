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
import { REPO_OPTION, type RepoOption, shownMemory } from "./scope.ts";

const SUGGESTED = `such as ${CATEGORIES.join(", ")}`;

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
    .description("Remember something. A memory on the same subject is replaced.")
    .argument("[text]", "what to remember; reads standard input when left out")
    .option("--category <category>", SUGGESTED)
    .option("--title <title>", "its topic; a memory with the same title is replaced")
    .option("--pin", "never prune it")
    .option(...REPO_OPTION)
    .action((text: string | undefined, options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => add(invocation, text, options)),
    );
  group
    .command("edit")
    .description("Change a memory. Fields you leave out stay as they are.")
    .argument("<id>")
    .option("--content <text>", "the new text; - reads it from standard input")
    .option("--category <category>", SUGGESTED)
    .option("--title <title>", "its topic; empty removes it")
    .action((id: string, options: EditOptions, command: Command) =>
      perform(host, command, (invocation) => edit(invocation, id, options)),
    );
  for (const pinned of [true, false])
    group
      .command(pinned ? "pin" : "unpin")
      .description(
        pinned
          ? "Pin a memory: it is never pruned, and agents cannot change it."
          : "Unpin a memory, so that it can fade like any other.",
      )
      .argument("<id>")
      .action((id: string, _options: object, command: Command) =>
        perform(host, command, (invocation) => pin(invocation, id, pinned)),
      );
  group
    .command("forget")
    .description("Delete memories permanently.")
    .argument("<ids...>")
    .action((ids: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => forget(invocation, ids)),
    );
  addPruneCommand(group, host);
}

function addPruneCommand(group: Command, host: CliHost): void {
  group
    .command("prune")
    .description("Delete memories of little relevance and list them. Pinned ones stay.")
    .option(
      "--below <relevance>",
      "only memories less relevant than this, from 0 to 2 (default: 0.1)",
      numberOf,
    )
    .option("--unused-days <n>", "only memories not read for this many days", numberOf)
    .option("--category <category>", "only in this category")
    .option("--dry-run", "list what would be deleted, and delete nothing")
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
    ...(replaced ? await replacedLines(api, memory.id) : [`Remembered as ${memory.id}.`]),
    ...pruned.map((gone) => `Removed ${gone.id} to make room: ${shownMemory(gone)}`),
  ]);
  return DONE;
}

/** Shows the replaced text: the memory was found by its words, so the owner should see which one it was. */
async function replacedLines(api: Api, id: string): Promise<string[]> {
  const { history } = await api.again.memory.get({ id });
  const [before] = history;
  const was = before ? ` Before: ${shownMemory(before)}` : "";
  return [
    `Replaced ${id}, which was about the same subject.${was}`,
    `See it in full with: muster memory show ${id}`,
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
    forgotten.map((memory) => `${memory.id} is deleted: ${shownMemory(memory)}`),
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
  const end = dryRun ? `${count} would be deleted.` : `${count} deleted.`;
  invocation.print(response, [
    ...lines,
    more ? `${end} There is more: run the command again.` : end,
  ]);
  return DONE;
}

const readText = (host: CliHost) =>
  readInput(host, MAX_CONTENT_CHARS, "Say what to remember, or pipe it in.");
