/** Delivery of notices for listeners. */
import type { Work } from "../work.ts";

const keyOf = (sessionId: string, source: string) => `deliver:${sessionId}:${source}`;

/**
 * Delivers when the command is otherwise done, in its transaction. A listener may run in the middle
 * of an admission; a prompt that it admitted there would be admitted inside another. The session
 * must be locked by then: deliveries run before anything that locks the inboxes of people, which
 * come after all sessions.
 */
export function deliverAtEnd(
  work: Work,
  { sessionId, source }: { sessionId: string; source: string },
  deliver: () => Promise<void>,
): void {
  work.atEnd(keyOf(sessionId, source), deliver);
}

/**
 * Delivers now what waits for the end: notices that a session missed while it slept go before the
 * prompt of a person or an agent that woke it. Not for admissions of notices themselves.
 */
export function deliverNow(work: Work, sessionId: string): Promise<void> {
  return work.doNow(keyOf(sessionId, ""));
}
