/** Search query in the address, so that going back from a result restores the others. Pure. */
import type { SearchKind } from "#features/search/contract.ts";

export const KINDS: Record<SearchKind, string> = {
  session: "Sessions",
  transcript: "Transcripts",
  task: "Tasks",
  message: "Messages",
  memory: "Memories",
  persona: "Personas",
  repo: "Repositories",
};

export interface WantedSearch {
  for?: string;
  /** Separated by commas; absent means all. */
  kinds?: string;
}

export const WANTED_SEARCH = ["for", "kinds"] as const;

export function readWantedSearch(search: Record<string, unknown>): WantedSearch {
  const read: WantedSearch = {};
  // The router parses a number in an address as a number.
  const words = ["string", "number", "boolean"].includes(typeof search.for)
    ? String(search.for)
    : "";
  if (words !== "") read.for = words;
  const kinds = kindsIn(search.kinds);
  if (kinds.length > 0) read.kinds = kinds.join(",");
  return read;
}

export function kindsIn(text: unknown): SearchKind[] {
  if (typeof text !== "string") return [];
  // Addresses saved with an earlier version name messages `letter`.
  const kinds = text.split(",").map((kind) => (kind === "letter" ? "message" : kind));
  return [...new Set(kinds)].filter(isKind);
}

/** Adds or removes a kind; choosing all is the same as choosing none. */
export function toggleKind(kinds: readonly SearchKind[], kind: SearchKind): SearchKind[] {
  const chosen = kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind];
  const all = Object.keys(KINDS) as SearchKind[];
  return chosen.length === all.length ? [] : all.filter((one) => chosen.includes(one));
}

function isKind(text: string): text is SearchKind {
  return Object.hasOwn(KINDS, text);
}

/** Accepts only paths of this server: other addresses are not followed. */
export function ownPath(url: string): string | undefined {
  return /^\/(?![/\\])/.test(url) ? url : undefined;
}
