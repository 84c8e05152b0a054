/** `muster search`. */

import { type Command, InvalidArgumentError } from "commander";
import {
  type MatchRanges,
  SEARCH_KINDS,
  SEARCH_LIMIT_DEFAULT,
  type SearchItem,
} from "#features/search/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { type Style, safeLine, styleFor, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

interface Options {
  kinds?: string;
  limit: number;
}

export function addSearchCommand(program: Command, host: CliHost): void {
  program
    .command("search")
    .description("Search everything that you may see by plain words, best match first.")
    .argument("<words...>", 'what to look for; "words in quotes" must appear together')
    .option(
      "--kinds <kinds>",
      `only these kinds, separated by commas: ${SEARCH_KINDS.join(",")}`,
      kindsOf,
    )
    .option("--limit <n>", "how many at most", limitOf, SEARCH_LIMIT_DEFAULT)
    .action((words: string[], options: Options, command: Command) =>
      perform(host, command, (invocation) => search(invocation, words.join(" "), options)),
    );
}

function kindsOf(text: string): string {
  const unknown = text.split(",").find((kind) => !SEARCH_KINDS.some((known) => known === kind));
  if (unknown === undefined) return text;
  throw new InvalidArgumentError(`Use some of ${SEARCH_KINDS.join(",")}.`);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`Use a number from 1 to ${PAGE_LIMIT_MAX}.`);
}

async function search(invocation: Invocation, q: string, options: Options): Promise<Ending> {
  const query = { q, ...options };
  const page = await invocation.api().search.find({ query });
  const { stdout, env } = invocation.host;
  const style = styleFor(stdout, env);
  const lines = page.items.flatMap((item) => linesOf(item, style));
  invocation.print(page, lines.length > 0 ? lines : ["No matches. Try other words."]);
  return DONE;
}

function linesOf(item: SearchItem, style: Style): string[] {
  const { kind, id, title, titleMatches, snippet, matches, at } = item;
  const about = style.dim(`${safeLine(id)}, ${timeAgo(at)}`);
  const head = `${kind.padEnd(10)}  ${marked(title, titleMatches, style)}  ${about}`;
  return snippet === "" ? [head] : [head, `${" ".repeat(12)}${marked(snippet, matches, style)}`];
}

/** Highlights the matches, and removes control sequences for the terminal. */
function marked(text: string, ranges: MatchRanges, style: Style): string {
  let from = 0;
  let line = "";
  for (const [start, end] of ranges) {
    line += `${oneLine(text.slice(from, start))}${style.bold(oneLine(text.slice(start, end)))}`;
    from = end;
  }
  return `${line}${oneLine(text.slice(from))}`.trim();
}

/** Keeps the spaces at both ends, because the text is a piece of a line. */
function oneLine(text: string): string {
  const [before, after] = [/^\s/.test(text), /\s$/.test(text)];
  const middle = safeLine(text);
  if (middle === "") return text === "" ? "" : " ";
  return `${before ? " " : ""}${middle}${after ? " " : ""}`;
}
