/** `muster usage`. */
import { type Command, Option } from "commander";
import {
  USAGE_GROUPS,
  type UsageItem,
  type UsagePage,
  type UsageSum,
} from "#features/usage/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { formatCost, printTable, shorten } from "#surfaces/cli/kit/text/terminal.ts";

interface Options {
  by: (typeof USAGE_GROUPS)[number];
  from?: string;
  to?: string;
}

const PAGE_LIMIT = 200;
const TITLE_WIDTH = 40;

export function addUsageCommand(program: Command, host: CliHost): void {
  program
    .command("usage")
    .description("Show tokens, cost, time and tool calls.")
    .addOption(new Option("--by <group>", "group by").choices(USAGE_GROUPS).default("day"))
    .option("--from <day>", "from this day on (YYYY-MM-DD, UTC)")
    .option("--to <day>", "until this day")
    .action((options: Options, command: Command) =>
      perform(host, command, (invocation) => showUsage(invocation, options)),
    );
}

async function showUsage(invocation: Invocation, options: Options): Promise<Ending> {
  const { items, total } = await readAll(invocation, options);
  if (invocation.json) {
    invocation.print({ items, next: null, total }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["No usage."]);
  } else {
    printTable(
      invocation.host,
      [options.by.toUpperCase(), "REQUESTS", "IN", "CACHED", "OUT", "COST", "TOOLS", "TURNS", ""],
      [...items.map(rowOf), ["total", ...sumsOf(total), ""]],
    );
  }
  return DONE;
}

async function readAll(invocation: Invocation, options: Options): Promise<UsagePage> {
  const api = invocation.api();
  const items: UsageItem[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: UsagePage = await api.usage.list({
      query: { ...options, limit: PAGE_LIMIT, cursor },
    });
    items.push(...page.items);
    if (page.next === null) return { items, next: null, total: page.total };
    cursor = page.next;
  }
}

function rowOf(item: UsageItem): string[] {
  return [item.key || "–", ...sumsOf(item), shorten(item.title ?? "", TITLE_WIDTH)];
}

function sumsOf(sum: UsageSum): string[] {
  return [
    sum.requests,
    sum.inputTokens,
    sum.cachedInputTokens,
    sum.outputTokens,
    costOf(sum),
    sum.toolCalls,
    sum.turns,
  ].map(String);
}

/** Requests without a price must not look free. */
function costOf({ costMicros, unpricedRequests }: UsageSum): string {
  const known = formatCost(costMicros);
  return costMicros === null || unpricedRequests === 0
    ? known
    : `${known} + ${unpricedRequests} unpriced`;
}
