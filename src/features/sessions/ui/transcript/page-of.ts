/** Choice of the file that a person most likely wants to see. Pure. */
import type { ShownFile } from "#protocol/workspaces.ts";

/** Returns the HTML file nearest to the top, an index file before others; undefined when there is none. */
export function pageOf(files: readonly ShownFile[]): ShownFile | undefined {
  const pages = files.filter(({ mediaType }) => mediaType.startsWith("text/html"));
  return [...pages].sort(
    (a, b) => sortKey(a.path) - sortKey(b.path) || (a.path < b.path ? -1 : 1),
  )[0];
}

function sortKey(path: string): number {
  const isIndex = /(^|\/)index\.html?$/i.test(path);
  return path.split("/").length * 2 + (isIndex ? 0 : 1);
}
