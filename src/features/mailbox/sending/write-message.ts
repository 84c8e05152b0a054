/**
 * Writes a message. A message to a person is counted in their inbox, announced to open pages and
 * put in the outbox for their channels, all in the writer's transaction. A message to a session is
 * only stored; its sender also delivers it to the agent.
 */
import { cleanText } from "#base/text/clean-text.ts";
import type { Person, Work } from "#engine/index.ts";
import { sendLater } from "#engine/outbox/index.ts";
import { outboxKind, wantedChannels } from "../agents/channels.ts";
import { countUnread, findByCause, insertMessage, lockInbox } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { type MessageDraft, rowOf } from "./draft.ts";

export async function writeMessage(work: Work, draft: MessageDraft): Promise<MessageRow> {
  const id = draft.id ?? work.ids.mint("msg");
  const row = rowOf({ ...draft, content: cleanText(draft.content) }, id, work.now);
  if (!(await insertMessage(work.tx, row)))
    return (await findByCause(work.tx, row.cause_key ?? "")) as MessageRow;
  if (row.to_user_id !== null && row.archived_at === null) {
    const person = { orgId: row.org_id, userId: row.to_user_id };
    if (isCounted(row)) withInbox(work, person, () => countUnread(work.tx, person, 1));
    await post(work, row);
    hintMessage(work, person.userId, row.id);
  }
  return row;
}

/** True if unread and in the inbox. */
export function isCounted(row: MessageRow): boolean {
  return row.read_at === null && row.archived_at === null && row.snoozed_until === null;
}

/**
 * Runs `act` at the end of the command under the inbox lock. An existing message to a person
 * changes only under this lock. An inbox is locked only after every session that the command locks;
 * otherwise two commands could wait for each other.
 */
export function withInbox(work: Work, person: Person, act: () => Promise<void>): void {
  work.atEnd(`inbox:${person.orgId}:${person.userId}`, async () => {
    await lockInbox(work.tx, person);
    await act();
  });
}

/** Puts the message in the outbox for the configured channels that the recipient wants. */
export async function post(work: Work, row: MessageRow): Promise<void> {
  for (const channel of await wantedChannels(work, row)) {
    const causeKey = `message:${row.id}:${row.surfaced_at}:${channel}`;
    const payload = { messageId: row.id, userId: row.to_user_id };
    await sendLater(work, row.org_id, outboxKind(channel), causeKey, payload);
  }
}

/** Sends a hint to open pages; nothing depends on it. */
export function hintMessage(work: Work, userId: string, messageId: string): void {
  work.tx.afterCommit(() => work.announcer.hint(`user:${userId}`, "message", messageId));
}
