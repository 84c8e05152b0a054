/** Lets an agent read its messages before they are delivered; nothing is delivered twice. */
import { Refusal } from "#base/refusal.ts";
import type { RunRow, SessionWriter, Work } from "#engine/index.ts";
import type { NoticeMessage } from "#protocol/notices/notices.ts";
import { countElsewhere, listUntold, markReadBy } from "../agents/agent-queries.ts";
import { hintOwners, relate, retell, takeable } from "../agents/deliver.ts";
import { findGuest, guestOf, isGuestLetter } from "../agents/guest.ts";
import { findLetter } from "../queries.ts";
import type { LetterRow } from "../schema.ts";
import { letterText } from "../sending/letter-text.ts";

const READ_AT_ONCE = 20;

type TurnRef = Pick<RunRow, "thread" | "prompt_id">;

export interface ReadLetters {
  letters: NoticeMessage[];
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
export async function readLetters(
  work: Work,
  session: SessionWriter,
  run: TurnRef,
): Promise<ReadLetters> {
  const { row } = session;
  const guest = await findGuest(work.tx, row, run);
  const untold = await listUntold(work.tx, row.id, run.thread);
  const isFor = (letter: LetterRow) =>
    isGuestLetter(letter) ? guestOf(letter.from_owner_id) === guest : guest === undefined;
  const mine = await takeable(work, untold.filter(isFor));
  const read = mine.slice(0, READ_AT_ONCE);
  for (const { id } of read) await markReadBy(work.tx, id, run.prompt_id, work.now);
  await retell(work, session, read);
  hintOwners(work, read);
  return {
    letters: await relate(work, row, read),
    more: mine.length - read.length,
    guests: guest === undefined ? untold.filter(isGuestLetter).length : 0,
    elsewhere: guest === undefined ? await countElsewhere(work.tx, row.id, run.thread) : 0,
  };
}

/** Reads one whole message that was delivered to this thread or sent from it. */
export async function readLetter(
  work: Work,
  session: SessionWriter,
  run: TurnRef,
  id: string,
): Promise<{ text: string; letter: LetterRow; isSent: boolean }> {
  const { row } = session;
  const letter = await findLetter(work.tx, id);
  const isSent = letter?.from_session_id === row.id && letter.from_thread === run.thread;
  const isDelivered =
    letter?.to_session_id === row.id &&
    letter.to_thread === run.thread &&
    letter.fate === "delivered";
  if (!letter || !(isSent || isDelivered)) {
    throw new Refusal(
      "not_found",
      "letter_not_found",
      `You have no letter ${JSON.stringify(id)} in this conversation. Call mailbox_check without letterId for what is new.`,
    );
  }
  const [message] = (await relate(work, row, [letter])) as [NoticeMessage];
  return { text: letterText(message, null), letter, isSent };
}
