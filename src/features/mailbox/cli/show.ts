/** `muster inbox show`: the thread of a message. */
import type { Command } from "commander";
import { describeDecision } from "#features/approvals/cli/index.ts";
import type { Approval } from "#features/approvals/contract.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { ServerRefusal } from "#surfaces/cli/client/server-refusal.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { frameText } from "#surfaces/cli/kit/text/framed-text.ts";
import {
  columnsOf,
  type Style,
  safeLine,
  styleFor,
  timeAgo,
} from "#surfaces/cli/kit/text/terminal.ts";
import { partyName } from "./party-name.ts";

export function addInboxShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .alias("thread")
    .description("Shows the thread of a message and marks it as read.")
    .argument("<message>", "message id")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const { threadId } = (await api.again.inbox.get({ id })).message;
        const items = await api.listAll(api.inbox.thread, { threadId });
        const style = styleFor(host.stdout, host.env);
        const columns = columnsOf(host.stdout);
        const lines = items.flatMap((one) => linesOf(one, style, columns));
        if (!invocation.json) lines.push(...(await nextLines(api, items)));
        invocation.print({ items }, lines);
        return DONE;
      }),
    );
}

/** Next step for the reader: reply to the last message, or decide its pending approval. */
async function nextLines(api: Api, items: readonly MailMessage[]): Promise<string[]> {
  const { user } = await api.again.me.get();
  const last = items.findLast(({ to }) => to.kind === "user" && to.id === user.id);
  if (!last) return [];
  const approval = await approvalOf(api, last);
  if (approval && approval.state !== "pending")
    return [safeLine(describeDecision(approval, user.id))];
  if (approval && approval.kind !== "question")
    return [`Decide with: muster approvals show ${approval.id}`];
  return [`Reply with: muster inbox reply ${last.id}`];
}

const APPROVAL_REF = "approval:";

async function approvalOf(api: Api, { contextRef }: MailMessage): Promise<Approval | undefined> {
  if (!contextRef?.startsWith(APPROVAL_REF)) return;
  const id = contextRef.slice(APPROVAL_REF.length);
  try {
    return (await api.again.approvals.get({ id })).approval;
  } catch (error) {
    // The approval is gone, or the key may not read it; the thread can still be shown.
    if (error instanceof ServerRefusal) return;
    throw error;
  }
}

function linesOf(message: MailMessage, style: Style, columns: number): string[] {
  const { id, from, to, createdAt, messageType, content } = message;
  const head = `${partyName(from)} → ${partyName(to)}, ${timeAgo(createdAt)}`;
  return [
    style.bold(safeLine(head)),
    style.dim(safeLine(`${id}  ${messageType}${aboutOf(message)}${fateOf(message)}`)),
    // The frame separates the sender's text from our own lines below it.
    ...frameText(content.replaceAll("\r\n", "\n"), columns),
    "",
  ];
}

function aboutOf({ contextSessionId, contextTaskId, contextRef, contextUrl }: MailMessage): string {
  const about = [contextSessionId, contextTaskId, contextUrl ?? contextRef].filter(
    (one) => one !== null,
  );
  return about.length === 0 ? "" : `  about ${about.join(", ")}`;
}

function fateOf({ fate, fateReason }: MailMessage): string {
  if (fate === "delivered") return "";
  return fate === "waiting"
    ? "  waiting for its agent to read it"
    : `  not delivered${fateReason === null ? "" : `: ${fateReason}`}`;
}
