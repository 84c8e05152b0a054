/** `muster inbox ls` and `count`: lists messages and counts the unread ones. */

import { type Command, InvalidArgumentError, Option } from "commander";
import {
  MAIL_FOLDERS,
  type MailFolder,
  type MailMessage,
  MESSAGE_TYPES,
  type MessageType,
} from "#features/mailbox/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { partyName } from "./party-name.ts";

const LIMIT = 30;
const NAME_WIDTH = 28;
const TEXT_WIDTH = 70;

interface LsOptions {
  box: MailFolder;
  unread?: boolean;
  type?: MessageType;
  fromSession?: string;
  fromUser?: string;
  session?: string;
  task?: string;
  ref?: string;
  limit: number;
}

export function addInboxLsCommands(group: Command, host: CliHost): void {
  asDefault(group.command("ls", BY_DEFAULT))
    .description("Lists messages, newest first. A star marks unread ones.")
    .addOption(new Option("--box <box>", "folder").choices(MAIL_FOLDERS).default("inbox" as const))
    .option("--unread", "only unread messages")
    .addOption(new Option("--type <type>", "only messages of this type").choices(MESSAGE_TYPES))
    .option("--from-session <session>", "only messages from this session")
    .option("--from-user <id>", "only messages from this person")
    .option("--session <session>", "only messages about this session")
    .option("--task <id>", "only messages about this task")
    .option(
      "--ref <reference>",
      "only messages about this reference, such as github:acme/api:pr:42",
    )
    .option("--limit <n>", "maximum number of messages", limitOf, LIMIT)
    .action((options: LsOptions, command: Command) =>
      perform(host, command, (invocation) => list(invocation, options)),
    );
  group
    .command("count")
    .description("Prints the number of unread messages in your inbox.")
    .action((_options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().again.inbox.count();
        invocation.print(answer, [String(answer.count)]);
        return DONE;
      }),
    );
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`Use a number from 1 to ${PAGE_LIMIT_MAX}.`);
}

async function list(invocation: Invocation, options: LsOptions): Promise<Ending> {
  const { box, limit, type: messageType, session, task } = options;
  const api = invocation.api();
  const idOf = (which: string | undefined) =>
    which === undefined ? undefined : findSessionId(api, which);
  const page = await api.again.inbox.list({
    query: {
      box,
      limit,
      messageType,
      fromSessionId: await idOf(options.fromSession),
      fromUserId: options.fromUser,
      contextSessionId: await idOf(session),
      contextTaskId: task,
      contextRef: options.ref,
      ...(options.unread && { unreadOnly: "true" }),
    },
  });
  if (invocation.json) invocation.print(page, []);
  else if (page.items.length === 0) invocation.print(null, ["No messages."]);
  else {
    const who = box === "sent" ? "TO" : "FROM";
    const headings = ["", "ID", "WHEN", "TYPE", who, "MESSAGE"];
    printTable(
      invocation.host,
      headings,
      page.items.map((message) => rowOf(message, box)),
    );
    if (page.next !== null) invocation.host.stdout.write("There are more: use --limit.\n");
  }
  return DONE;
}

function rowOf(message: MailMessage, box: MailFolder): string[] {
  const { id, createdAt, messageType, decision, from, to, content, read } = message;
  return [
    read || box === "sent" ? " " : "*",
    id,
    timeAgo(createdAt),
    decision === null ? messageType : `${messageType}, ${decision}`,
    shorten(partyName(box === "sent" ? to : from), NAME_WIDTH),
    shorten(content, TEXT_WIDTH),
  ];
}
