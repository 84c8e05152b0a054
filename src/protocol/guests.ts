/**
 * Turns that somebody else's words began, as those see them who must not tell what only its person may
 * know. Every guest is heard in a conversation of their own; what they answer elsewhere begins with a
 * line that says so. Pure.
 */
export const GUEST_THREAD = "mail:";
/** How a prompt begins that tells an agent of letters from outside its person's own sessions. */
export const GUEST_MAIL = "[mailbox, guest]";

export function isGuestThread(thread: string): boolean {
  return thread.startsWith(GUEST_THREAD);
}

export function isGuestTurn(thread: string, asked: string): boolean {
  return isGuestThread(thread) || asked.startsWith(GUEST_MAIL);
}
