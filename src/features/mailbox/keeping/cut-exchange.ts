/**
 * Cuts off agents that only answer each other: the last message is stored and not delivered, and
 * both owners are notified.
 */
import type { Work } from "#engine/index.ts";
import { inQuotes } from "#features/delegation/index.ts";
import { MAX_HOPS } from "../contract.ts";
import { findByCause } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import type { MessageDraft, MessageSide } from "../sending/draft.ts";
import { userSide } from "../sending/sides.ts";
import { writeMessage } from "../sending/write-message.ts";

const causeOf = (threadId: string, ownerId: string) => `loop:${threadId}:${ownerId}`;

/** True if the thread was cut off before, so that another message in it is not even stored. */
export async function isCutOff(work: Work, { from, to, replyTo }: MessageDraft): Promise<boolean> {
  const ownerId = from.ownerId ?? to.ownerId;
  if (!replyTo || ownerId === null) return false;
  return (await findByCause(work.tx, causeOf(replyTo.thread_id, ownerId))) !== undefined;
}

export async function cutExchange(work: Work, draft: MessageDraft): Promise<MessageRow> {
  const message = await writeMessage(work, { ...draft, fate: "failed", fateReason: "hop_limit" });
  const { from, to } = draft;
  const sides = [from, to].filter(({ ownerId }) => ownerId !== null);
  for (const side of sides.sort((a, b) => ((a.ownerId ?? "") < (b.ownerId ?? "") ? -1 : 1)))
    await notify(work, draft, message, side);
  return message;
}

async function notify(
  work: Work,
  { orgId, from, to }: MessageDraft,
  message: MessageRow,
  { ownerId, kind, id }: MessageSide,
): Promise<void> {
  if (ownerId === null) return;
  await writeMessage(work, {
    orgId,
    from,
    to: await userSide(work.tx, ownerId),
    type: "notification",
    event: "mail.loop_cut",
    content: `${inQuotes(from.name)} and ${inQuotes(to.name)} answered each other ${MAX_HOPS} times without a person, so Muster stopped them. The last message was not delivered. They continue when one of you asks them to.`,
    contextSessionId: kind === "session" ? id : null,
    contextRef: `message:${message.id}`,
    causeKey: causeOf(message.thread_id, ownerId),
  });
}
