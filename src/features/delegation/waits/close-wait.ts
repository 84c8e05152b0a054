/** Closes a wait: its row and its timer are removed together. */
import { clearTimer, type Work } from "#engine/index.ts";
import { deleteWait } from "./wait-queries.ts";

export const WAIT_TIMER = "delegation.wait";

export function waitSubject(sessionId: string, thread: string): string {
  return `${sessionId}/${thread}`;
}

/** Session ids contain no slash, but thread names may. */
export function waitOf(subject: string): { sessionId: string; thread: string } {
  const at = subject.indexOf("/");
  return { sessionId: subject.slice(0, at), thread: subject.slice(at + 1) };
}

/** Returns false if there was no wait. */
export async function closeWait(work: Work, sessionId: string, thread: string): Promise<boolean> {
  if ((await deleteWait(work.tx, sessionId, thread)) === 0) return false;
  await clearTimer(work.tx, WAIT_TIMER, waitSubject(sessionId, thread));
  return true;
}
