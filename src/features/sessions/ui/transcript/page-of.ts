/** The one file somebody most likely wants to look at. Pure. */
import type { ShownFile } from "#protocol/workspaces.ts";

/** A page rather than a picture, the nearest to the top, an index before others; undefined when there is none. */
export function pageOf(files: readonly ShownFile[]): ShownFile | undefined {
  const pages = files.filter(({ mediaType }) => mediaType.startsWith("text/html"));
  return [...pages].sort(
    (a, b) => weight(a.path) - weight(b.path) || (a.path < b.path ? -1 : 1),
  )[0];
}

function weight(path: string): number {
  const isIndex = /(^|\/)index\.html?$/i.test(path);
  return path.split("/").length * 2 + (isIndex ? 0 : 1);
}
