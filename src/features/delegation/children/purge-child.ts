/** Purges an ended session that is not to be kept, once no turn holds it. */
import { type SessionRow, setTimer, type TimerHandler, type Work } from "#engine/index.ts";
import { purgeEnded } from "#engine/sessions/index.ts";

export const PURGE_TIMER = "delegation.purge";
const AGAIN_MS = 1_000;

/**
 * Uses a timer, because the command that ends the session still holds it, and because a kill must
 * not prevent the purge.
 */
export function purgeSoon(
  work: Work,
  { id, org_id }: Pick<SessionRow, "id" | "org_id">,
): Promise<void> {
  return setTimer(work, PURGE_TIMER, id, org_id, work.now);
}

export const purgeDue: TimerHandler = async (work, { subject, org_id }) => {
  const result = await purgeEnded(work, subject);
  if (result === "busy") await setTimer(work, PURGE_TIMER, subject, org_id, work.now + AGAIN_MS);
};
