/** `muster inbox send` and `reply`. */
import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { CallOptions, Client } from "#client/index.ts";
import {
  MAX_MESSAGE_CHARS,
  type MailMessage,
  MESSAGE_TYPES,
  type MessageType,
} from "#features/mailbox/contract.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { readInput } from "#surfaces/cli/kit/read-input.ts";
import { safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { partyName } from "./party-name.ts";

const TEXT = "text of the message; read from standard input if omitted";

interface SendOptions {
  type?: MessageType;
  session?: string;
  task?: string;
  ref?: string;
}

export function addInboxWriteCommands(group: Command, host: CliHost): void {
  group
    .command("send")
    .description("Sends a message to an agent or a person.")
    .argument(
      "<to>",
      "a session (its id, the end of it, or its title), orchestrator, @handle of somebody's agent, @user:name, or a person's id",
    )
    .argument("[text]", TEXT)
    .addOption(
      new Option(
        "--type <type>",
        "message type; questions and escalations wake a sleeping agent",
      ).choices(MESSAGE_TYPES),
    )
    .option("--session <session>", "session that the message is about")
    .option("--task <id>", "task that the message is about")
    .option("--ref <ref>", "other subject of the message, such as github:acme/api:pr:42")
    .action((to: string, text: string | undefined, options: SendOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const { session } = options;
        const body = {
          to: await recipientOf(invocation, to),
          content: await textOf(host, text),
          messageType: options.type,
          contextSessionId:
            session === undefined ? undefined : await findSessionId(invocation.api(), session),
          contextTaskId: options.task,
          contextRef: options.ref,
        };
        return write(invocation, ({ mailbox }, options) => mailbox.send({ body }, options));
      }),
    );
  group
    .command("reply")
    .description("Replies to a message. A reply to a session's question answers it.")
    .argument("<message>", "message id")
    .argument("[text]", TEXT)
    .action((id: string, text: string | undefined, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const body = { content: await textOf(host, text) };
        return write(invocation, ({ inbox }, options) => inbox.reply({ id, body }, options));
      }),
    );
}

/** Resolves a session by any of its names; the server resolves or refuses everything else. */
async function recipientOf(invocation: Invocation, to: string): Promise<string> {
  if (to.startsWith("@") || to.startsWith("usr_")) return to;
  try {
    return await findSessionId(invocation.api(), to);
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not_found") return to;
    throw error;
  }
}

async function textOf(host: CliHost, text: string | undefined): Promise<string> {
  return text ?? readInput(host, MAX_MESSAGE_CHARS, "Give the text as an argument, or pipe it in.");
}

async function write(
  invocation: Invocation,
  send: (client: Client, options: CallOptions) => Promise<{ message: MailMessage }>,
): Promise<Ending> {
  const answer = await send(invocation.api().again, { idempotencyKey: randomUUID() });
  const { id, to, fate } = answer.message;
  const when = fate === "waiting" ? "Waiting for its agent to read it." : "Delivered.";
  invocation.print(answer, [safeLine(`${id} to ${partyName(to)}. ${when}`)]);
  return DONE;
}
