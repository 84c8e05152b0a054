/** Hands a file to the browser as a download. */
export function download({ name, blob }: { name: string; blob: Blob }): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Not at once: some browsers begin to read it a moment later.
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
