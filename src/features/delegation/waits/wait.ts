/**
 * Waiting without polling: the turn ends and leaves a row. The next event of a child, a person's
 * prompt or the timeout wakes the session, also after a restart.
 */
import { type SessionWriter, setTimer, type TimerHandler, type Work } from "#engine/index.ts";
import { markWaiting, showAwaiting } from "#engine/sessions/index.ts";
import { wake } from "../notify/notify-parent.ts";
import { closeWait, WAIT_TIMER, waitOf, waitSubject } from "./close-wait.ts";
import { insertWait, listWaits } from "./wait-queries.ts";

export interface Wait {
  thread: string;
  /** Prompt whose turn ends with the wait. */
  promptId: string;
  /** Children whose events end the wait; null for any child. */
  children: readonly string[] | null;
  /** Null for a wait without a timeout. */
  timeoutMs: number | null;
  /** Shown to people: the session waits for children, or only lets time pass. */
  kind?: "children" | "time";
}

export async function beginWait(
  work: Work,
  session: SessionWriter,
  { thread, promptId, children, timeoutMs, kind = "children" }: Wait,
): Promise<void> {
  const { id, org_id } = session.row;
  await closeWait(work, id, thread);
  await insertWait(work.tx, {
    session_id: id,
    thread,
    org_id,
    children: children && JSON.stringify(children),
    kind,
    until: timeoutMs === null ? null : work.now + timeoutMs,
    created_at: work.now,
  });
  await markWaiting(work.tx, promptId, kind);
  showAwaiting(session.row, await listWaits(work.tx, id));
  if (timeoutMs !== null)
    await setTimer(work, WAIT_TIMER, waitSubject(id, thread), org_id, work.now + timeoutMs);
}

/** Ends the wait by its timeout, and delivers all pending events. */
export const waitIsOver: TimerHandler = async (work, timer) => {
  const { sessionId, thread } = waitOf(timer.subject);
  const session = await work.session(sessionId);
  if (!session || !(await closeWait(work, sessionId, thread))) return;
  await wake(work, session, thread, "time");
};
