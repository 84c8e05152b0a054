/** Ref that focuses an element as soon as it is mounted. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
