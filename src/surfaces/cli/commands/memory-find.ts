/** `muster memory ls` and `muster memory search`. */
import { type Command, InvalidArgumentError } from "commander";
import type { Memory } from "#features/memory/contract.ts";
import { PAGE_LIMIT_MAX, type Page } from "#protocol/page.ts";
import type { CliHost } from "../host.ts";
import { DONE, type Ending, type Invocation, perform } from "../invocation.ts";
import { printTable, timeAgo } from "../terminal.ts";
import { memoriesPath, REPO_OPTION, type RepoOption, shownMemory } from "./memory-path.ts";

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
  withFilters(group.command("ls"))
    .description("Lists what is remembered, the last written first.")
    .option("--pinned", "only what is pinned")
    .action((options: ListOptions, command: Command) =>
      perform(host, command, (invocation) => list(invocation, options)),
    );
  withFilters(group.command("search"))
    .description("Finds what is remembered by plain words, the best match first.")
    .argument("<words...>", "what it should be about")
    .option("--limit <n>", "how many at most", limitOf, 20)
    .action((words: string[], options: SearchOptions, command: Command) =>
      perform(host, command, (invocation) => search(invocation, words.join(" "), options)),
    );
}

function withFilters(command: Command): Command {
  return command
    .option("--category <category>", "only of this category")
    .option("--since <day>", "written since then, such as 2025-03-01")
    .option("--until <day>", "written before then")
    .option(...REPO_OPTION)
    .option("--sessions", "what your sessions know of all repositories");
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
  const query = { ...queryOf(options), ...(pinned && { pinned }) };
  const items = await invocation.api().listAll<Memory>(memoriesPath(options), query);
  show(
    invocation,
    { items, next: null },
    "Nothing is remembered. Add something with: muster memory add",
  );
  return DONE;
}

async function search(
  invocation: Invocation,
  words: string,
  options: SearchOptions,
): Promise<Ending> {
  const query = { ...queryOf(options), query: words, limit: options.limit };
  const page = await invocation.api().call<Page<Memory>>(memoriesPath(options), { query });
  show(invocation, page, "Nothing was found. Try other words.");
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
