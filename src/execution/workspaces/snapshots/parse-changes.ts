/** Parses the output of `git diff-tree` into changes for clients, within the limits of the protocol. */
import {
  type FileChange,
  MAX_LISTED_FILES,
  MAX_PATCH_CHARS,
  MAX_PATCHES_CHARS,
  type WorkspaceChanges,
} from "#protocol/workspaces.ts";

interface RawChange {
  status: FileChange["status"];
  path: string;
  from: string | null;
  /** A change of kind, such as from file to link, is written as two patches. */
  patches: 1 | 2;
}

interface Counts {
  additions: number;
  deletions: number;
  binary: boolean;
}

/**
 * Parses changes. `output` has one character per byte: the kind of change of each file, then the
 * line counts of each, then the patches. `cut` says that its end is missing.
 */
export function parseChanges(output: string, cut: boolean): WorkspaceChanges {
  const words = new Words(output);
  const changes: RawChange[] = [];
  while (words.startsWith(":")) changes.push(readChange(words));
  const counts = changes.map(() => readCounts(words));
  // A zero byte comes before the patches.
  const patches = splitPatches(words.rest().replace(/^\0/, ""), cut);
  let nextPatch = 0;
  let room = MAX_PATCHES_CHARS;
  const files = changes.slice(0, MAX_LISTED_FILES).map((change, i): FileChange => {
    const own = patches.slice(nextPatch, nextPatch + change.patches);
    nextPatch += change.patches;
    const count = counts[i] ?? { additions: 0, deletions: 0, binary: false };
    const bytes = own.length === change.patches && !count.binary ? own.join("") : null;
    const text = bytes === null ? null : decode(bytes);
    const shown = text !== null && text.length <= Math.min(MAX_PATCH_CHARS, room) ? text : null;
    room -= shown?.length ?? 0;
    const from = change.from === null ? null : decode(change.from);
    const isExact = text === null || encode(text) === bytes;
    return {
      ...{ path: decode(change.path), status: change.status, from, ...count, patch: shown },
      ...(!isExact && { isExact }),
    };
  });
  return {
    files,
    more: changes.length - files.length,
    additions: counts.reduce((sum, { additions }) => sum + additions, 0),
    deletions: counts.reduce((sum, { deletions }) => sum + deletions, 0),
  };
}

/** Words that end with a zero byte, read one after the other. */
class Words {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  startsWith(start: string): boolean {
    return this.#text.startsWith(start, this.#at);
  }

  next(): string {
    const found = this.#text.indexOf("\0", this.#at);
    const end = found < 0 ? this.#text.length : found;
    const word = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return word;
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }
}

/** `:modes ids STATUS`, the path, and a second path for a rename. */
function readChange(words: Words): RawChange {
  const letter = words.next().split(" ").at(-1)?.[0] ?? "";
  const first = words.next();
  return {
    path: letter === "R" || letter === "C" ? words.next() : first,
    from: letter === "R" ? first : null,
    status: STATUS[letter] ?? "modified",
    patches: letter === "T" ? 2 : 1,
  };
}

const STATUS: Readonly<Record<string, FileChange["status"]>> = {
  A: "added",
  C: "added",
  D: "deleted",
  R: "renamed",
};

/** `added\tdeleted\tpath`, or with an empty path and two more for a rename; `-` for binary. */
function readCounts(words: Words): Counts {
  const [added = "", deleted = "", path = ""] = words.next().split("\t");
  if (path === "") {
    words.next();
    words.next();
  }
  const binary = added === "-";
  return {
    additions: binary ? 0 : Number(added),
    deletions: binary ? 0 : Number(deleted),
    binary,
  };
}

/** Every line inside a patch begins with a sign, so this begins a new one for certain. */
function splitPatches(text: string, cut: boolean): string[] {
  const patches = text.split(/(?<![^\n])(?=diff --git )/).filter(Boolean);
  return cut ? patches.slice(0, -1) : patches;
}

function decode(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
