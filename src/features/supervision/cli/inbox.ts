import type { Command } from "commander";
import type { InboxItem } from "#features/delegation/contract.ts";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const TEXT_WIDTH = 60;

interface InboxOptions {
  clear?: boolean;
  yes?: boolean;
}

export function addOrchestrationInboxCommand(group: Command, host: CliHost): void {
  group
    .command("inbox")
    .description("Show a supervisor's delivered and pending notifications, newest first.")
    .argument("<session>", "the supervisor")
    .option("--clear", "clear it instead, including pending notifications")
    .option("--yes", "skip the question")
    .action((which: string, options: InboxOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const id = await findSessionId(invocation.api(), which);
        return options.clear ? clearInbox(invocation, id, options) : listInbox(invocation, id);
      }),
    );
}

async function listInbox(invocation: Invocation, id: string): Promise<Ending> {
  const { items } = await invocation.api().again.supervision.readInbox({ id });
  if (invocation.json) invocation.print({ items }, []);
  else if (items.length === 0) invocation.print(null, ["The inbox is empty."]);
  else
    printTable(
      invocation.host,
      ["WHEN", "EVENT", "WORKER", "DELIVERED", "WHAT IT SAID"],
      items.map(rowOf),
    );
  return DONE;
}

function rowOf({ at, type, workerName, delivered, payload }: InboxItem): string[] {
  const { text, questions } = payload as { text?: unknown; questions?: unknown };
  const content = Array.isArray(questions) ? questions.join(" ") : (text ?? "");
  return [
    timeAgo(at),
    type,
    workerName,
    delivered ? "yes" : "no",
    shorten(String(content).replaceAll(/\s+/g, " ") || "–", TEXT_WIDTH),
  ];
}

async function clearInbox(
  invocation: Invocation,
  id: string,
  { yes }: InboxOptions,
): Promise<Ending> {
  const { host } = invocation;
  const mustAsk = host.stdin.isTTY === true && !yes;
  if (mustAsk && !(await confirm(host, `Clear the inbox of ${id}?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const answer = await invocation.api().supervision.clearInbox({ id });
  invocation.print(answer, [`${answer.cleared} notifications are removed.`]);
  return DONE;
}
