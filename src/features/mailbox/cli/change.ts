/** `muster inbox read`, `unread`, `archive`, `unarchive`, `snooze` and `read-all`. */
import { type Command, Option } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { ApiRoutes, InputOf } from "#client/index.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { instantOf } from "#surfaces/cli/kit/text/instant.ts";

type MessageChange = NonNullable<InputOf<ApiRoutes["inbox"]["update"]>["body"]>;

interface Change {
  name: string;
  says: string;
  body: MessageChange;
  done: string;
}

const CHANGES: readonly Change[] = [
  { name: "read", says: "Marks messages as read.", body: { read: true }, done: "is read" },
  { name: "unread", says: "Marks messages as unread.", body: { read: false }, done: "is unread" },
  {
    name: "archive",
    says: "Archives messages and marks them as read.",
    body: { archived: true },
    done: "is archived",
  },
  {
    name: "unarchive",
    says: "Moves messages back to the inbox.",
    body: { archived: false },
    done: "is in the inbox",
  },
];

export function addInboxChangeCommands(group: Command, host: CliHost): void {
  for (const { name, says, body, done } of CHANGES)
    group
      .command(name)
      .description(says)
      .argument("<messages...>", "message ids")
      .action((ids: string[], _options: object, command: Command) =>
        perform(host, command, (invocation) => change(invocation, ids, body, done)),
      );
  group
    .command("snooze")
    .description("Snoozes a message; it returns unread.")
    .argument("<message>", "message id")
    .argument("<when>", "30m, 2h, 3d or 1w from now, a time such as 2026-03-01T09:00, or now")
    .action((id: string, when: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => {
        const snoozedUntil = when === "now" ? null : snoozeEnd(when, Date.now());
        const done = snoozedUntil === null ? "is back in the inbox" : `returns ${snoozedUntil}`;
        return change(invocation, [id], { snoozedUntil }, done);
      }),
    );
  group
    .command("read-all")
    .description("Marks everything in the inbox as read.")
    .option("--updates", "only messages and notifications, which need no action")
    // Name of the option in earlier versions.
    .addOption(new Option("--news").hideHelp())
    .action((options: { updates?: boolean; news?: boolean }, command: Command) =>
      perform(host, command, async (invocation) => {
        const { inbox } = invocation.api().again;
        const answer = await (options.updates || options.news
          ? inbox.readNonActionable()
          : inbox.readAll());
        const { changed } = answer;
        invocation.print(answer, [
          changed === 1 ? "1 message marked as read." : `${changed} messages marked as read.`,
        ]);
        return DONE;
      }),
    );
}

async function change(
  invocation: Invocation,
  ids: readonly string[],
  body: MessageChange,
  done: string,
): Promise<Ending> {
  const api = invocation.api();
  const messages: MailMessage[] = [];
  for (const id of ids) messages.push((await api.again.inbox.update({ id, body })).message);
  invocation.print(
    { messages },
    messages.map(({ id }) => `${id} ${done}.`),
  );
  return DONE;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
  w: 7 * 24 * 60 * 60_000,
};

function snoozeEnd(text: string, now: number): string {
  const span = /^(\d{1,4})([mhdw])$/.exec(text);
  if (span) {
    const at = now + Number(span[1]) * (UNITS_MS[span[2] ?? ""] ?? 0);
    return new Date(at).toISOString();
  }
  if (/^\d/.test(text)) return instantOf(text, "begins");
  throw new Refusal(
    "invalid",
    "instant_invalid",
    "Use 30m, 2h, 3d, 1w, a time such as 2026-03-01T09:00, or now.",
  );
}
