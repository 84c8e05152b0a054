/** What is looked for lives in the address, so that going back from a result finds the others again. Pure. */
import type { SearchKind } from "#features/search/contract.ts";

export const KINDS: Record<SearchKind, string> = {
  session: "Sessions",
  transcript: "Transcripts",
  task: "Tasks",
  letter: "Letters",
  memory: "Memories",
  persona: "Personas",
  repo: "Repositories",
};

export interface WantedSearch {
  for?: string;
  /** With commas between them; none: all. */
  kinds?: string;
}

export const WANTED_SEARCH = ["for", "kinds"] as const;

export function readWantedSearch(search: Record<string, unknown>): WantedSearch {
  const read: WantedSearch = {};
  // A number in an address is read as one.
  const words = ["string", "number", "boolean"].includes(typeof search.for)
    ? String(search.for)
    : "";
  if (words !== "") read.for = words;
  const kinds = kindsIn(search.kinds);
  if (kinds.length > 0) read.kinds = kinds.join(",");
  return read;
}

export function kindsIn(text: unknown): SearchKind[] {
  return typeof text === "string" ? text.split(",").filter(isKind) : [];
}

/** With this kind or without it; all of them is the same as none. */
export function toggleKind(kinds: readonly SearchKind[], kind: SearchKind): SearchKind[] {
  const chosen = kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind];
  const all = Object.keys(KINDS) as SearchKind[];
  return chosen.length === all.length ? [] : all.filter((one) => chosen.includes(one));
}

function isKind(text: string): text is SearchKind {
  return Object.hasOwn(KINDS, text);
}

/** The server's own pages only: whatever else an address says is not followed. */
export function ownPath(url: string): string | undefined {
  return /^\/(?![/\\])/.test(url) ? url : undefined;
}
