import { type Command, InvalidArgumentError } from "commander";
import type { ApiRoutes, InputOf } from "#client/index.ts";
import type { AuditEvent } from "#features/audit/contract.ts";
import type { Page } from "#protocol/page.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten } from "#surfaces/cli/kit/text/terminal.ts";

type Query = NonNullable<InputOf<ApiRoutes["audit"]["list"]>["query"]>;

/** The server refuses an unknown action or category. */
interface Options extends Pick<Query, "session" | "action" | "category" | "from" | "to"> {
  limit: number;
}

const DETAIL_WIDTH = 100;

export function addAuditLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List events, newest first.")
    .option("--session <id>", "only for this session")
    .option("--action <name>", "only this action, such as tool_denied")
    .option(
      "--category <name>",
      "only this category, such as session, tool, approval, people, access or settings",
    )
    .option("--from <time>", "from this day or time on")
    .option("--to <time>", "before this day or time")
    .option("--limit <count>", "how many to show", wholeNumber, PAGE_LIMIT_DEFAULT)
    .action((options: Options, command: Command) =>
      perform(host, command, (invocation) => listTrail(invocation, options)),
    );
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("Use a whole number above 0.");
}

async function listTrail(invocation: Invocation, { limit, ...filter }: Options): Promise<Ending> {
  const items = await readTrail(invocation, filter, limit);
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["No events found."]);
  } else {
    printTable(invocation.host, ["AT", "ACTION", "SESSION", "DETAILS"], items.map(rowOf));
  }
  return DONE;
}

async function readTrail(
  invocation: Invocation,
  filter: Omit<Options, "limit">,
  limit: number,
): Promise<AuditEvent[]> {
  const api = invocation.api();
  const items: AuditEvent[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<AuditEvent> = await api.audit.list({
      query: { ...filter, limit: Math.min(limit - items.length, PAGE_LIMIT_MAX), cursor },
    });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return items;
}

function rowOf({ at, action, metadata }: AuditEvent): string[] {
  const { sessionId, userId: _user, requestId: _request, ...rest } = metadata;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  return [at, action, String(sessionId ?? "–"), shorten(details.join(" "), DETAIL_WIDTH)];
}
