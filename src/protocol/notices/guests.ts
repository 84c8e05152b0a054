/**
 * Turns of guests, from the rows. A guest is neither an agent's person nor one of that person's
 * sessions; each guest has a conversation of its own. Pure.
 */
export const GUEST_THREAD = "mail:";

export function isGuestThread(thread: string): boolean {
  return thread.startsWith(GUEST_THREAD);
}

/** True when a guest's words began the turn: it must not disclose what only its person may know. */
export function isGuestTurn(thread: string, prompt: { is_guest: number }): boolean {
  return isGuestThread(thread) || prompt.is_guest === 1;
}
