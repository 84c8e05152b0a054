/** Diff lines from a unified patch, or from a text and its replacement. Pure. */
export interface DiffLine {
  kind: "add" | "del" | "same" | "hunk" | "note";
  /** Line numbers before and after; null where there is none. */
  old: number | null;
  new: number | null;
  text: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

export function parsePatch(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInHunk = false;
  for (const raw of patch.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(raw);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInHunk = true;
      lines.push({ kind: "hunk", old: null, new: null, text: (hunk[3] ?? "").trim() });
    } else if (isInHunk) {
      const line = bodyLine(raw, before, after);
      if (line.old !== null) before++;
      if (line.new !== null) after++;
      lines.push(line);
    }
  }
  return lines;
}

function bodyLine(raw: string, before: number, after: number): DiffLine {
  const text = raw.slice(1);
  switch (raw[0]) {
    case "+":
      return { kind: "add", old: null, new: after, text };
    case "-":
      return { kind: "del", old: before, new: null, text };
    case "\\":
      return { kind: "note", old: null, new: null, text: text.trim() };
    default:
      return { kind: "same", old: before, new: after, text };
  }
}

/** Diffs a replacement, with the common first and last lines shown as unchanged. Unnumbered. */
export function diffOf(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail++;
  const as = (kind: DiffLine["kind"]) => (text: string) => ({ kind, old: null, new: null, text });
  return [
    ...old.slice(0, head).map(as("same")),
    ...old.slice(head, old.length - tail).map(as("del")),
    ...now.slice(head, now.length - tail).map(as("add")),
    ...old.slice(old.length - tail).map(as("same")),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

export function countChanges(lines: readonly DiffLine[]): { additions: number; deletions: number } {
  let additions = 0;
  let deletions = 0;
  for (const { kind } of lines) {
    if (kind === "add") additions++;
    if (kind === "del") deletions++;
  }
  return { additions, deletions };
}
