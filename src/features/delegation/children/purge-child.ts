/** A session that has ended and is not to be kept: it goes for good, as soon as no turn holds it. */
import { type SessionRow, setTimer, type TimerHandler, type Work } from "#engine/index.ts";
import { purgeEnded } from "#engine/sessions/index.ts";

export const PURGE_TIMER = "delegation.purge";
const AGAIN_MS = 1_000;

/** A timer, because what ends it still has it in its hands, and because a kill must not keep it. */
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
