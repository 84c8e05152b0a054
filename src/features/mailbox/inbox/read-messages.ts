/** Lets an agent read its messages before they are delivered; nothing is delivered twice. */
import { Refusal } from "#base/refusal.ts";
import type { RunRow, SessionWriter, Work } from "#engine/index.ts";
import type { NoticeMessage } from "#protocol/notices/notices.ts";
import { countElsewhere, listUndelivered, markReadBy } from "../agents/agent-queries.ts";
import { hintOwners, refreshPrompts, relate, withdrawable } from "../agents/deliver.ts";
import { findGuest, guestOf, isGuestMessage } from "../agents/guest.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { messageText } from "../sending/message-text.ts";

const READ_AT_ONCE = 20;

type TurnRef = Pick<RunRow, "thread" | "prompt_id">;

export interface ReadMessages {
  messages: NoticeMessage[];
  /** Unread messages of this thread beyond the ones returned. */
  more: number;
  /** Messages from guests, each of whom gets a turn of their own. */
  guests: number;
  elsewhere: number;
}

/**
 * Reads the messages of this thread. A guest's message never enters a turn with more rights than a
 * guest turn, and nobody else's message enters a guest turn.
 */
export async function readMessages(
  work: Work,
  session: SessionWriter,
  run: TurnRef,
): Promise<ReadMessages> {
  const { row } = session;
  const guest = await findGuest(work.tx, row, run);
  const undelivered = await listUndelivered(work.tx, row.id, run.thread);
  const isFor = (message: MessageRow) =>
    isGuestMessage(message) ? guestOf(message.from_owner_id) === guest : guest === undefined;
  const mine = await withdrawable(work, undelivered.filter(isFor));
  const read = mine.slice(0, READ_AT_ONCE);
  for (const { id } of read) await markReadBy(work.tx, id, run.prompt_id, work.now);
  await refreshPrompts(work, session, read);
  hintOwners(work, read);
  return {
    messages: await relate(work, row, read),
    more: mine.length - read.length,
    guests: guest === undefined ? undelivered.filter(isGuestMessage).length : 0,
    elsewhere: guest === undefined ? await countElsewhere(work.tx, row.id, run.thread) : 0,
  };
}

/** Reads one whole message that was delivered to this thread or sent from it. */
export async function readMessage(
  work: Work,
  session: SessionWriter,
  run: TurnRef,
  id: string,
): Promise<{ text: string; message: MessageRow; isSent: boolean }> {
  const { row } = session;
  const message = await findMessage(work.tx, id);
  const isSent = message?.from_session_id === row.id && message.from_thread === run.thread;
  const isDelivered =
    message?.to_session_id === row.id &&
    message.to_thread === run.thread &&
    message.fate === "delivered";
  if (!message || !(isSent || isDelivered)) {
    throw new Refusal(
      "not_found",
      "message_not_found",
      `There is no message ${JSON.stringify(id)} in this conversation. Call mailbox_check without messageId for new messages.`,
    );
  }
  const [related] = (await relate(work, row, [message])) as [NoticeMessage];
  return { text: messageText(related, null), message, isSent };
}
