/** `muster inbox show`: the exchange that a letter belongs to. */
import type { Command } from "commander";
import type { Letter } from "#features/mailbox/contract.ts";
import type { CliHost } from "../host.ts";
import { DONE, perform } from "../invocation.ts";
import { type Style, safeLine, safeText, styleFor, timeAgo } from "../terminal.ts";
import { INBOX, letterPath, nameOf } from "./inbox-path.ts";

export function addInboxShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .alias("thread")
    .description("Shows a letter and all that was written back and forth; it counts as read then.")
    .argument("<letter>", "its id")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const { letter } = await api.callAgain<{ letter: Letter }>(letterPath(id));
        const path = `${INBOX}/threads/${encodeURIComponent(letter.threadId)}`;
        const items = await api.listAll<Letter>(path);
        const style = styleFor(host.stdout, host.env);
        invocation.print({ items }, [
          ...items.flatMap((one) => linesOf(one, style)),
          `Answer with: muster inbox reply ${letter.id}`,
        ]);
        return DONE;
      }),
    );
}

function linesOf(letter: Letter, style: Style): string[] {
  const { id, from, to, createdAt, messageType, content } = letter;
  const head = `${nameOf(from)} → ${nameOf(to)}, ${timeAgo(createdAt)}`;
  return [
    style.bold(safeLine(head)),
    style.dim(safeLine(`${id}  ${messageType}${aboutOf(letter)}${fateOf(letter)}`)),
    ...safeText(content).split("\n"),
    "",
  ];
}

function aboutOf({ contextSessionId, contextTaskId, contextRef }: Letter): string {
  const about = [contextSessionId, contextTaskId, contextRef].filter((one) => one !== null);
  return about.length === 0 ? "" : `  about ${about.join(", ")}`;
}

function fateOf({ fate, fateReason }: Letter): string {
  if (fate === "delivered") return "";
  return fate === "waiting"
    ? "  waits until its agent reads it"
    : `  not delivered${fateReason === null ? "" : `: ${fateReason}`}`;
}
