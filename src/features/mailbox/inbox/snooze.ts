/** Returns a snoozed message to the inbox. */
import type { TimerHandler } from "#engine/index.ts";
import { findMessage, lockInbox } from "../queries.ts";
import { post } from "../sending/write-message.ts";
import { keep, surface } from "./change-message.ts";

export const endSnooze: TimerHandler = async (work, { subject }) => {
  const seen = await findMessage(work.tx, subject);
  if (!seen || seen.to_user_id === null) return;
  const person = { orgId: seen.org_id, userId: seen.to_user_id };
  await lockInbox(work.tx, person);
  // Read again under the inbox lock. Another snooze moves the timer, so this one no longer applies.
  const row = await findMessage(work.tx, subject);
  if (!row || row.snoozed_until === null) return;
  const surfaced = surface(row, work.now);
  await keep(work, person, row, surfaced);
  await post(work, surfaced);
};
