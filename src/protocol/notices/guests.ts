/**
 * Guests' turns, from the rows. Whoever is neither an agent's person nor one of that person's sessions
 * is a guest; each guest is heard in a conversation of its own. Pure.
 */
export const GUEST_THREAD = "mail:";

export function isGuestThread(thread: string): boolean {
  return thread.startsWith(GUEST_THREAD);
}

/** True when a guest's words began the turn: it must not tell what only its person may know. */
export function isGuestTurn(thread: string, prompt: { is_guest: number }): boolean {
  return isGuestThread(thread) || prompt.is_guest === 1;
}
