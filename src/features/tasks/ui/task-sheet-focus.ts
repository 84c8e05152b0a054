/** The card of a deleted task goes away with it: whoever came from there goes on at the head of the board. */
export const AFTER_DELETING = { "data-after-deleting": true };

export function afterDeleting(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-after-deleting]");
}
