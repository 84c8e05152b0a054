/**
 * Globs over targets. In paths `*` stays within a folder and `**` does not; elsewhere `*` is any text.
 * The matcher does not backtrack into earlier stars. The worst case is still pattern × text, and
 * matching runs inside a transaction, so every comparison is counted and a budget ends it.
 */

/** Budget of comparisons, shared by all matches for one call. */
export interface Steps {
  left: number;
}

/** Budget for one pattern on one text: far more than any honest pattern takes. */
const MAX_STEPS_EACH = 1_000_000;
/** Budget for all rules on one call. */
const MAX_STEPS = 5_000_000;

export function newSteps(): Steps {
  return { left: MAX_STEPS };
}

/** Result of a match. `unsure`: the budget ran out. An allow must not rely on it; a deny or an ask must. */
export type Match = boolean | "unsure";

export function matchesGlob(
  pattern: string,
  text: string,
  kind: "path" | "text",
  steps: Steps = newSteps(),
): Match {
  const own: Steps = { left: Math.min(MAX_STEPS_EACH, steps.left) };
  const before = own.left;
  const match =
    kind === "text"
      ? matchItems(textItems(pattern, text, own), own)
      : matchItems(pathItems(pattern, text, own), own);
  steps.left -= before - Math.max(own.left, 0);
  return own.left < 0 ? "unsure" : match;
}

/** Two sequences to be compared: items of a pattern and items of a text. */
interface Items {
  patternLength: number;
  textLength: number;
  /** True if this item of the pattern stands for any number of items. */
  isMany(at: number): boolean;
  fits(at: number, position: number): boolean;
}

function textItems(pattern: string, text: string, steps: Steps): Items {
  // Split by code points only where a surrogate occurs: copying long texts is expensive.
  const isPlain = !/[\ud800-\udfff]/.test(text);
  const wanted = isPlain ? pattern : [...pattern];
  const found = isPlain ? text : [...text];
  if (!isPlain) steps.left -= found.length;
  return {
    patternLength: wanted.length,
    textLength: found.length,
    isMany: (at) => wanted[at] === "*",
    fits: (at, position) => wanted[at] === "?" || wanted[at] === found[position],
  };
}

function pathItems(pattern: string, text: string, steps: Steps): Items {
  const wanted = pattern.split("/");
  const found = text.split("/");
  steps.left -= found.length;
  return {
    patternLength: wanted.length,
    textLength: found.length,
    isMany: (at) => wanted[at] === "**",
    fits: (at, position) =>
      matchItems(textItems(wanted[at] as string, found[position] as string, steps), steps),
  };
}

/** Matches items. When the rest does not fit, the last item that stands for many takes one more. */
function matchItems(items: Items, steps: Steps): boolean {
  const { patternLength, textLength } = items;
  let at = 0;
  let position = 0;
  let lastMany = -1;
  let taken = 0;
  while (position < textLength) {
    if (--steps.left < 0) return false;
    if (at < patternLength && items.isMany(at)) {
      lastMany = at;
      taken = position;
      at += 1;
    } else if (at < patternLength && items.fits(at, position)) {
      at += 1;
      position += 1;
    } else if (lastMany >= 0) {
      at = lastMany + 1;
      taken += 1;
      position = taken;
    } else return false;
  }
  while (at < patternLength && items.isMany(at)) at += 1;
  steps.left -= 1;
  return at >= patternLength;
}

/** Default match of a pattern. The bare name of a host is a glob over URLs. */
export function defaultMatch(tool: string, pattern: string): "exact" | "glob" {
  const isHost = tool === "web_fetch" && !pattern.includes("://");
  return isHost || /[*?]/.test(pattern) ? "glob" : "exact";
}
