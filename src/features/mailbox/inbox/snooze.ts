/** A letter that was put off comes back. */
import type { TimerHandler } from "#engine/index.ts";
import { findLetter, lockInbox } from "../queries.ts";
import { post } from "../sending/write-letter.ts";
import { keep, surface } from "./change-letter.ts";

export const snoozeIsOver: TimerHandler = async (work, { subject }) => {
  const seen = await findLetter(work.tx, subject);
  if (!seen || seen.to_user_id === null) return;
  const person = { orgId: seen.org_id, userId: seen.to_user_id };
  await lockInbox(work.tx, person);
  // Read again with the inbox held. Who puts it off again moves the timer, so this one is over.
  const row = await findLetter(work.tx, subject);
  if (!row || row.snoozed_until === null) return;
  const back = surface(row, work.now);
  await keep(work, person, row, back);
  await post(work, back);
};
