/**
 * Writes a letter. One to a person is counted in their inbox, shown at once to who looks, and put in
 * the outbox for the channels they want it in, all in the writer's transaction. One to a session is
 * only written here: who sends it also sees to it that its agent is told.
 */
import { cleanText } from "#base/text/clean-text.ts";
import type { Person, Work } from "#engine/index.ts";
import { sendLater } from "#engine/outbox/index.ts";
import { outboxKind, wantedChannels } from "../agents/channels.ts";
import { countUnread, findByCause, insertLetter, lockInbox } from "../queries.ts";
import type { LetterRow } from "../schema.ts";
import { type LetterDraft, rowOf } from "./draft.ts";

export async function writeLetter(work: Work, draft: LetterDraft): Promise<LetterRow> {
  const id = draft.id ?? work.ids.mint("ltr");
  const row = rowOf({ ...draft, content: cleanText(draft.content) }, id, work.now);
  if (!(await insertLetter(work.tx, row)))
    return (await findByCause(work.tx, row.cause_key ?? "")) as LetterRow;
  if (row.to_user_id !== null && row.archived_at === null) {
    const person = { orgId: row.org_id, userId: row.to_user_id };
    if (isCounted(row)) withInbox(work, person, () => countUnread(work.tx, person, 1));
    await post(work, row);
    hintLetter(work, person.userId, row.id);
  }
  return row;
}

/** In the inbox and not read. */
export function isCounted(row: LetterRow): boolean {
  return row.read_at === null && row.archived_at === null && row.snoozed_until === null;
}

/**
 * Does this with a person's inbox held. A letter to a person that is there already is changed only
 * so, and an inbox is held only after every session that the command locks: else two commands would
 * wait for each other.
 */
export function withInbox(work: Work, person: Person, act: () => Promise<void>): void {
  work.atEnd(`inbox:${person.orgId}:${person.userId}`, async () => {
    await lockInbox(work.tx, person);
    await act();
  });
}

/** Puts it in the outbox, for the channels that its person wants and that there are. */
export async function post(work: Work, row: LetterRow): Promise<void> {
  for (const channel of await wantedChannels(work, row)) {
    const causeKey = `letter:${row.id}:${row.surfaced_at}:${channel}`;
    const payload = { letterId: row.id, userId: row.to_user_id };
    await sendLater(work, row.org_id, outboxKind(channel), causeKey, payload);
  }
}

/** A hint: nothing depends on it. */
export function hintLetter(work: Work, userId: string, letterId: string): void {
  work.tx.afterCommit(() => work.announcer.hint(`user:${userId}`, "letter", letterId));
}
