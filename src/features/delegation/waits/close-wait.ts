/** Ending a wait: its row and its timer go together. */
import { clearTimer, type Work } from "#engine/index.ts";
import { deleteWait } from "./wait-queries.ts";

export const WAIT_TIMER = "delegation.wait";

export function waitSubject(sessionId: string, thread: string): string {
  return `${sessionId}/${thread}`;
}

/** No session id has a slash in it, and a thread's name may. */
export function waitOf(subject: string): { sessionId: string; thread: string } {
  const at = subject.indexOf("/");
  return { sessionId: subject.slice(0, at), thread: subject.slice(at + 1) };
}

/** False when there was none. */
export async function closeWait(work: Work, sessionId: string, thread: string): Promise<boolean> {
  if ((await deleteWait(work.tx, sessionId, thread)) === 0) return false;
  await clearTimer(work.tx, WAIT_TIMER, waitSubject(sessionId, thread));
  return true;
}
