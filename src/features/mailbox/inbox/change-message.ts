/**
 * Changes of people to their messages: read, archive, snooze. The inbox is locked, so that its
 * count matches the rows.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import {
  clearTimer,
  command,
  type Engine,
  type Person,
  setTimer,
  type Work,
} from "#engine/index.ts";
import type { MessageChange, MessageType } from "../contract.ts";
import { countUnread, findMessage, lockInbox, saveState } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { hintMessage, isCounted } from "../sending/write-message.ts";
import { listUnread, markRead } from "./inbox-queries.ts";

export const SNOOZE_TIMER = "message_snoozed";
const MAX_SNOOZE_MS = 366 * 24 * 60 * 60_000;
const READ_AT_ONCE = 500;

export async function changeMessage(
  work: Work,
  person: Person,
  id: string,
  change: MessageChange,
): Promise<MessageRow> {
  await lockInbox(work.tx, person);
  const before = await findMessage(work.tx, id);
  if (before?.org_id !== person.orgId || before.to_user_id !== person.userId)
    throw notFound("message in your inbox");
  const after = changed(before, change, work.now);
  await keep(work, person, before, after);
  return after;
}

/** Saves a changed message; the caller holds the inbox lock. */
export async function keep(
  work: Work,
  person: Person,
  before: MessageRow,
  after: MessageRow,
): Promise<void> {
  await saveState(work.tx, after);
  await countUnread(work.tx, person, Number(isCounted(after)) - Number(isCounted(before)));
  if (after.snoozed_until !== before.snoozed_until) {
    if (after.snoozed_until === null) await clearTimer(work.tx, SNOOZE_TIMER, after.id);
    else await setTimer(work, SNOOZE_TIMER, after.id, after.org_id, after.snoozed_until);
  }
  hintMessage(work, person.userId, after.id);
}

/** State of a message after a change; pure. */
export function changed(row: MessageRow, change: MessageChange, now: number): MessageRow {
  const { archived, snoozedUntil, read } = change;
  if (archived === true && snoozedUntil != null) throw NOT_BOTH();
  let next = { ...row };
  if (archived === true) next = archive(next, now);
  if (archived === false) next.archived_at = null;
  if (snoozedUntil === null) next = surface(next, now);
  if (typeof snoozedUntil === "number") next = snooze(next, snoozedUntil, now);
  if (read === true) next.read_at ??= now;
  if (read === false) next.read_at = null;
  return next;
}

/** An archived message counts as read. */
function archive(row: MessageRow, now: number): MessageRow {
  const { read_at, archived_at } = row;
  return { ...row, read_at: read_at ?? now, archived_at: archived_at ?? now, snoozed_until: null };
}

function snooze(row: MessageRow, until: number, now: number): MessageRow {
  if (until <= now || until > now + MAX_SNOOZE_MS)
    throw new Refusal(
      "invalid",
      "snooze_out_of_range",
      "A message can be snoozed for up to a year. Send a time in the future, or null to return it now.",
    );
  return { ...row, snoozed_until: until, archived_at: null };
}

/** Returns a snoozed message to the inbox as if it were new. */
export function surface(row: MessageRow, now: number): MessageRow {
  if (row.snoozed_until === null) return row;
  return { ...row, snoozed_until: null, read_at: null, surfaced_at: now };
}

const NOT_BOTH = () =>
  new Refusal(
    "invalid",
    "archived_or_snoozed",
    "A message cannot be archived and snoozed at once. Send either archived or snoozedUntil.",
  );

/** Marks messages that are unread in the inbox as read; others stay unchanged. */
export async function markMessagesRead(
  work: Work,
  person: Person,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  await lockInbox(work.tx, person);
  const count = await markRead(work.tx, person, ids);
  await countUnread(work.tx, person, -count);
  if (count > 0) hintMessage(work, person.userId, ids.length === 1 ? (ids[0] as string) : "all");
  return count;
}

/**
 * Marks all present messages, or those of some types, as read. There may be many, so each batch is
 * its own command.
 */
export async function readAll(
  engine: Engine,
  person: Person,
  types?: readonly MessageType[],
): Promise<number> {
  /** Messages that arrive after the first batch stay unread. */
  let until: number | undefined;
  let count = 0;
  let after: { at: number; id: string } | undefined;
  for (;;) {
    const last = await command(engine, async (work) => {
      until ??= work.now;
      const wanted = { types, until, after, limit: READ_AT_ONCE };
      const rows = await listUnread(work.tx, person, wanted);
      count += await markMessagesRead(
        work,
        person,
        rows.map(({ id }) => id),
      );
      return rows.length < READ_AT_ONCE ? undefined : rows.at(-1);
    });
    if (!last) return count;
    after = { at: last.surfaced_at, id: last.id };
  }
}
