/** `muster memory ls`, `search` and `show`. */

import { type Command, InvalidArgumentError } from "commander";
import type { Memory } from "#features/memory/contract.ts";
import type { Page } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import {
  printTable,
  safeLine,
  safeText,
  styleFor,
  timeAgo,
} from "#surfaces/cli/kit/text/terminal.ts";
import { isOfSessions, REPO_OPTION, type RepoOption, shownMemory } from "./scope.ts";

interface FilterOptions extends RepoOption {
  category?: string;
  since?: string;
  until?: string;
  sessions?: boolean;
}
interface ListOptions extends FilterOptions {
  pinned?: boolean;
}
interface SearchOptions extends FilterOptions {
  limit: number;
}

export function addMemoryFindCommands(group: Command, host: CliHost): void {
  withFilters(asDefault(group.command("ls", BY_DEFAULT)))
    .description("List memories, most recently written first.")
    .option("--pinned", "only pinned ones")
    .action((options: ListOptions, command: Command) =>
      perform(host, command, (invocation) => list(invocation, options)),
    );
  withFilters(group.command("search"))
    .description("Search memories by plain words, best match first.")
    .argument("<words...>", "what the memory is about")
    .option("--limit <n>", "how many at most", limitOf, 20)
    .action((words: string[], options: SearchOptions, command: Command) =>
      perform(host, command, (invocation) => search(invocation, words.join(" "), options)),
    );
  addShowCommand(group, host);
}

function addShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Show a memory in full, with its earlier versions.")
    .argument("<id>")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const found = await invocation.api().again.memory.get({ id });
        const style = styleFor(host.stdout, host.env);
        invocation.print(found, [
          ...factLines(found.memory),
          "",
          ...safeText(found.memory.content).split("\n"),
          ...found.history.flatMap(({ title, content, replacedAt }) => [
            "",
            style.bold(
              safeLine(`Until ${timeAgo(replacedAt)}${title === null ? "" : `: ${title}`}`),
            ),
            ...safeText(content).split("\n"),
          ]),
        ]);
        return DONE;
      }),
    );
}

function factLines(memory: Memory): string[] {
  const { id, category, title, repo, relevance, pinned, source, createdAt, updatedAt } = memory;
  const facts: [name: string, value: string | null][] = [
    ["id", id],
    ["title", title],
    ["category", category],
    ["repository", repo],
    ["relevance", pinned ? "pinned" : relevance.toFixed(2)],
    ["written by", source === null ? "you" : source.sessionId],
    ["created", timeAgo(createdAt)],
    ["changed", timeAgo(updatedAt)],
  ];
  return facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => `${name.padEnd(12)}${safeLine(value)}`);
}

function withFilters(command: Command): Command {
  return command
    .option("--category <category>", "only in this category")
    .option("--since <day>", "written since this day, such as 2025-03-01")
    .option("--until <day>", "written before this day")
    .option(...REPO_OPTION)
    .option("--sessions", "the memories of your sessions, for all repositories");
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`Use a number from 1 to ${PAGE_LIMIT_MAX}.`);
}

function queryOf({ category, since, until, repo }: FilterOptions) {
  return { category, since, until, repo };
}

async function list(invocation: Invocation, options: ListOptions): Promise<Ending> {
  const { pinned } = options;
  const query = { ...queryOf(options), ...(pinned && { pinned: "true" }) };
  const api = invocation.api();
  const items = isOfSessions(options)
    ? await api.listAll(api.memory.listSession, { query })
    : await api.listAll(api.memory.list, { query });
  show(invocation, { items, next: null }, nothingWords(options));
  return DONE;
}

function nothingWords({ category, since, until, pinned }: ListOptions): string {
  if (category !== undefined) {
    const all = "See all with: muster memory ls";
    return safeLine(`No memories in the category ${JSON.stringify(category)}. ${all}`);
  }
  return (since ?? until ?? pinned)
    ? "No memory matches. See all with: muster memory ls"
    : "No memories yet. Add one with: muster memory add";
}

async function search(
  invocation: Invocation,
  words: string,
  options: SearchOptions,
): Promise<Ending> {
  const query = { ...queryOf(options), query: words, limit: options.limit };
  const { memory } = invocation.api();
  const page = isOfSessions(options)
    ? await memory.listSession({ query })
    : await memory.list({ query });
  show(invocation, page, "No matches. Try other words.");
  return DONE;
}

function show(invocation: Invocation, page: Page<Memory>, nothing: string): void {
  if (invocation.json) invocation.print(page, []);
  else if (page.items.length === 0) invocation.print(null, [nothing]);
  else {
    const headings = ["ID", "CATEGORY", "RELEVANCE", "WRITTEN", "WHAT"];
    printTable(invocation.host, headings, page.items.map(rowOf));
  }
}

function rowOf(memory: Memory): string[] {
  const { id, category, relevance, pinned, updatedAt, repo } = memory;
  const where = repo === null ? "" : `[${repo}] `;
  return [
    id,
    category,
    pinned ? "pinned" : relevance.toFixed(2),
    timeAgo(updatedAt),
    where + shownMemory(memory),
  ];
}
