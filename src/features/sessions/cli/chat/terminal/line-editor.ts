/**
 * The input line as a value: each key makes a new one. It may have several rows (pasted, or made with
 * Alt-Enter, Ctrl-J or a backslash before Enter); only Enter sends it.
 */
import type { Key } from "node:readline";
import { graphemesOf } from "#surfaces/cli/kit/text/text-width.ts";

export interface EditorLine {
  readonly text: string;
  /** Position of the next character, as an index of the text. */
  readonly cursor: number;
  /** True between the marks that a terminal puts around pasted text. */
  readonly isPasting: boolean;
  /** Position in the history, oldest first; null: at the unsent line. */
  readonly historyIndex: number | null;
  readonly unsentText: string;
}

export const EMPTY_LINE: EditorLine = {
  text: "",
  cursor: 0,
  isPasting: false,
  historyIndex: null,
  unsentText: "",
};

export type KeyResult =
  | { type: "edited"; line: EditorLine }
  | { type: "submitted"; text: string }
  | { type: "interrupted" }
  | { type: "left" }
  | { type: "redraw" };

type Edit = (
  line: EditorLine,
  history: readonly string[],
) => EditorLine | Exclude<KeyResult, { type: "edited" }>;

export function pressKey(
  line: EditorLine,
  letter: string | undefined,
  key: Key,
  history: readonly string[],
): KeyResult {
  if (line.isPasting) return edited(paste(line, letter, key));
  const edit = EDITS[nameOf(key)];
  if (edit) {
    const result = edit(line, history);
    return "type" in result ? result : edited(result);
  }
  const isText = letter !== undefined && !key.ctrl && !key.meta && isPrintable(letter);
  return edited(isText ? insert(line, letter) : line);
}

const edited = (line: EditorLine): KeyResult => ({ type: "edited", line });

function nameOf({ name, ctrl, meta }: Key): string {
  return `${ctrl ? "ctrl+" : ""}${meta ? "meta+" : ""}${name ?? ""}`;
}

function isPrintable(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

function paste(line: EditorLine, letter: string | undefined, { name }: Key): EditorLine {
  if (name === "paste-end") return { ...line, isPasting: false };
  if (name === "return") return insert(line, "\n");
  // The second half of a line break that was already taken.
  if (name === "enter") return line.text[line.cursor - 1] === "\n" ? line : insert(line, "\n");
  if (name === "tab") return insert(line, "  ");
  return letter !== undefined && isPrintable(letter) ? insert(line, letter) : line;
}

function insert(line: EditorLine, text: string): EditorLine {
  const { cursor } = line;
  return {
    ...line,
    text: line.text.slice(0, cursor) + text + line.text.slice(cursor),
    cursor: cursor + text.length,
    historyIndex: null,
  };
}

function cut(line: EditorLine, from: number, to: number): EditorLine {
  return { ...line, text: line.text.slice(0, from) + line.text.slice(to), cursor: from };
}

const EDITS: Record<string, Edit> = {
  return: submit,
  enter: (line) => insert(line, "\n"),
  "meta+return": (line) => insert(line, "\n"),
  "meta+enter": (line) => insert(line, "\n"),
  "paste-start": (line) => ({ ...line, isPasting: true }),
  "ctrl+c": () => ({ type: "interrupted" }),
  "ctrl+d": (line) =>
    line.text === "" ? { type: "left" } : cut(line, line.cursor, after(line, line.cursor)),
  "ctrl+l": () => ({ type: "redraw" }),
  backspace: (line) => cut(line, before(line, line.cursor), line.cursor),
  "ctrl+h": (line) => cut(line, before(line, line.cursor), line.cursor),
  delete: (line) => cut(line, line.cursor, after(line, line.cursor)),
  left: (line) => moved(line, before(line, line.cursor)),
  "ctrl+b": (line) => moved(line, before(line, line.cursor)),
  right: (line) => moved(line, after(line, line.cursor)),
  "ctrl+f": (line) => moved(line, after(line, line.cursor)),
  home: (line) => moved(line, lineStart(line)),
  "ctrl+a": (line) => moved(line, lineStart(line)),
  end: (line) => moved(line, lineEnd(line)),
  "ctrl+e": (line) => moved(line, lineEnd(line)),
  "ctrl+left": (line) => moved(line, wordStart(line)),
  "meta+left": (line) => moved(line, wordStart(line)),
  "meta+b": (line) => moved(line, wordStart(line)),
  "ctrl+right": (line) => moved(line, wordEnd(line)),
  "meta+right": (line) => moved(line, wordEnd(line)),
  "meta+f": (line) => moved(line, wordEnd(line)),
  "ctrl+w": (line) => cut(line, wordStart(line), line.cursor),
  "meta+backspace": (line) => cut(line, wordStart(line), line.cursor),
  "meta+d": (line) => cut(line, line.cursor, wordEnd(line)),
  "ctrl+u": (line) => cut(line, lineStart(line), line.cursor),
  "ctrl+k": (line) => cut(line, line.cursor, lineEnd(line)),
  up: (line, history) => (lineStart(line) === 0 ? recall(line, history, -1) : moveRow(line, -1)),
  down: (line, history) =>
    lineEnd(line) === line.text.length ? recall(line, history, 1) : moveRow(line, 1),
  "ctrl+p": (line, history) => recall(line, history, -1),
  "ctrl+n": (line, history) => recall(line, history, 1),
};

function submit(line: EditorLine): ReturnType<Edit> {
  const { text, cursor } = line;
  if (cursor === text.length && text.endsWith("\\"))
    return insert(cut(line, cursor - 1, cursor), "\n");
  return { type: "submitted", text };
}

const moved = (line: EditorLine, cursor: number): EditorLine => ({ ...line, cursor });

/** Index of the character before the cursor, which may have several code units. */
function before({ text }: EditorLine, cursor: number): number {
  return cursor - (graphemesOf(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function after({ text }: EditorLine, cursor: number): number {
  return cursor + (graphemesOf(text.slice(cursor)).at(0)?.length ?? 0);
}

function lineStart({ text, cursor }: EditorLine): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: EditorLine): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

function wordStart({ text, cursor }: EditorLine): number {
  return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function wordEnd({ text, cursor }: EditorLine): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
}

function moveRow(line: EditorLine, by: -1 | 1): EditorLine {
  const column = line.cursor - lineStart(line);
  const edge = by < 0 ? lineStart(line) - 1 : lineEnd(line) + 1;
  const target = moved(line, edge);
  return moved(line, Math.min(lineStart(target) + column, lineEnd(target)));
}

function recall(line: EditorLine, history: readonly string[], by: -1 | 1): EditorLine {
  const place = (line.historyIndex ?? history.length) + by;
  if (place < 0 || place > history.length) return line;
  const begun = line.historyIndex === null ? line.text : line.unsentText;
  const text = place === history.length ? begun : (history[place] ?? "");
  return {
    ...line,
    text,
    cursor: text.length,
    historyIndex: place === history.length ? null : place,
    unsentText: begun,
  };
}
