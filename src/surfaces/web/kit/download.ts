/** Starts a browser download. */
export function download({ name, blob }: { name: string; blob: Blob }): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Delayed, because some browsers start reading a moment later.
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
