/** Formats a time for a file's name. */
export function fileStamp(now: number): string {
  return new Date(now)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
}
