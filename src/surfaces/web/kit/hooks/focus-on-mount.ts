/** A ref for the one field that a step is about: it has the focus as soon as it is there. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
