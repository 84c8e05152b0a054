/** Keyboard navigation through the rows of the list. */
const rows = () => [...document.querySelectorAll<HTMLElement>("[data-message-row]")];

/** Returns true if there was a row to go to. */
export function stepRow(step: 1 | -1): boolean {
  const all = rows();
  const at = all.indexOf(document.activeElement as HTMLElement);
  const open = all.findIndex((row) => row.dataset.status === "active");
  const next = all[at >= 0 ? at + step : open >= 0 ? open + step : 0];
  next?.focus();
  return next !== undefined;
}

/** Focuses the row at this position after the list is redrawn, unless something else has the focus. */
export function focusRow(place: number): void {
  requestAnimationFrame(() => {
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return;
    const all = rows();
    (all[place] ?? all.at(-1))?.focus();
  });
}
