/**
 * Globs over targets. In paths `*` stays within a folder and `**` does not; elsewhere `*` is any text.
 * Matched without backtracking into earlier stars, so that no pattern and no target can make it slow.
 */

export function matchesGlob(pattern: string, text: string, kind: "path" | "text"): boolean {
  if (kind === "text") {
    const characters = [...pattern.replaceAll(/\*+/g, "*")];
    return matches(
      characters,
      [...text],
      "*",
      (wanted, found) => wanted === "?" || wanted === found,
    );
  }
  return matches(pattern.split("/"), text.split("/"), "**", (wanted, found) =>
    matchesGlob(wanted, found, "text"),
  );
}

/** `many` stands for any number of items. The last one met takes more when the rest does not fit. */
function matches(
  pattern: readonly string[],
  items: readonly string[],
  many: string,
  fits: (wanted: string, found: string) => boolean,
): boolean {
  let at = 0;
  let place = 0;
  let lastMany = -1;
  let taken = 0;
  while (place < items.length) {
    const wanted = pattern[at];
    if (wanted === many) {
      lastMany = at;
      taken = place;
      at += 1;
    } else if (wanted !== undefined && fits(wanted, items[place] as string)) {
      at += 1;
      place += 1;
    } else if (lastMany >= 0) {
      at = lastMany + 1;
      taken += 1;
      place = taken;
    } else return false;
  }
  return pattern.slice(at).every((rest) => rest === many);
}

/** What a pattern is taken for when nothing is said; the bare name of a host is one of addresses. */
export function defaultMatch(tool: string, pattern: string): "exact" | "glob" {
  const isHost = tool === "web_fetch" && !pattern.includes("://");
  return isHost || /[*?]/.test(pattern) ? "glob" : "exact";
}
