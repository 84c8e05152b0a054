/** Focus target after deleting a task: its card is gone, so the focus goes to the head of the board. */
export const AFTER_DELETING = { "data-after-deleting": true };

export function afterDeleting(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-after-deleting]");
}
