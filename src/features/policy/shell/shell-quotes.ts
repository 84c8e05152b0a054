/** Ends of quoted and nested pieces of shell text, and the meaning of escapes in them. */

/** Returns the index of the parenthesis that closes the one at `open`; -1 if it is left open. */
export function closingParen(text: string, open: number): number {
  return closing(text, open, "(", ")");
}

/** Returns the index of the brace that closes the one at `open`; -1 if it is left open. */
export function closingBrace(text: string, open: number): number {
  return closing(text, open, "{", "}");
}

function closing(text: string, open: number, opens: string, closes: string): number {
  let depth = 0;
  let at = open;
  while (at < text.length) {
    const char = text[at] as string;
    if (char === opens) depth += 1;
    else if (char === closes) {
      depth -= 1;
      if (depth === 0) return at;
    }
    at = afterPiece(text, at, char);
    if (at < 0) return -1;
  }
  return -1;
}

/** Returns the index after a character, or after an escape or quoted piece, where no closing mark counts. */
function afterPiece(text: string, at: number, char: string): number {
  switch (char) {
    case "\\":
      return at + 2;
    case "'":
      return after(text.indexOf("'", at + 1));
    case '"':
      return after(closingDouble(text, at));
    case "`":
      return after(text.indexOf("`", at + 1));
    default:
      return at + 1;
  }
}

const after = (end: number) => (end < 0 ? -1 : end + 1);

function closingDouble(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') return at;
    if (char === "\\") at += 2;
    else if (char === "$" && text[at + 1] === "(") {
      const end = closingParen(text, at + 1);
      if (end < 0) return -1;
      at = end + 1;
    } else at += 1;
  }
  return -1;
}

/** Lists the command substitutions in text that is otherwise not read as commands. */
export function substitutionsIn(text: string): string[] {
  const found: string[] = [];
  const open = /\\[\s\S]|\$\(|`/g;
  for (let match = open.exec(text); match; match = open.exec(text)) {
    if (match[0].startsWith("\\")) continue;
    const from = open.lastIndex;
    const end = match[0] === "`" ? text.indexOf("`", from) : closingParen(text, from - 1);
    const inner = text.slice(from, end < 0 ? text.length : end);
    found.push(inner);
    // Nested substitutions are read together with the outer one.
    open.lastIndex = from + inner.length + 1;
  }
  return found;
}

/**
 * True for `{name}>`: the word before a redirection names a variable that bash sets,
 * and bash evaluates its subscript.
 */
export function namesDescriptor(text: string, from: number, end: number): boolean {
  const isRedirected = text[end] === "<" || text[end] === ">";
  return isRedirected && /^\{.*\}$/s.test(text.slice(from, end).replaceAll("\\\n", ""));
}

const ANSI: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  E: "\u001b",
  f: "\f",
  v: "\v",
};

/** Decodes the text between the quotes of `$'…'`. */
export function decodeAnsi(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([\s\S]))/g,
    (_all, hex, short, long, octal, other: string | undefined) => {
      const code = hex ?? short ?? long;
      if (code !== undefined) return character(Number.parseInt(code, 16));
      if (octal !== undefined) return character(Number.parseInt(octal, 8) & 255);
      return ANSI[other ?? ""] ?? other ?? "";
    },
  );
}

const PLAIN_ANSI =
  /^(?:[^\\]|\\(?:[abeEfnrtv\\'"?]|x[0-9A-Fa-f]|u[0-9A-Fa-f]|U[0-9A-Fa-f]|[0-7]))*$/;

/** True if `decodeAnsi` is exact: other escapes are specific to bash, and a NUL ends its text. */
export function isPlainAnsi(text: string): boolean {
  return PLAIN_ANSI.test(text) && !decodeAnsi(text).includes("\0");
}

function character(code: number): string {
  return code <= 0x10_ffff ? String.fromCodePoint(code) : "";
}

/** Returns the body of a here-document that begins at `from`, and the index where the text goes on. */
export function heredocBody(
  text: string,
  from: number,
  delimiter: string,
  stripsTabs: boolean,
): { body: string; end: number } {
  const lines: string[] = [];
  let at = from;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const whole = text.slice(at, end);
    const line = stripsTabs ? whole.replace(/^\t+/, "") : whole;
    at = Math.min(end + 1, text.length);
    if (line === delimiter) break;
    lines.push(line);
  }
  return { body: lines.join("\n"), end: at };
}
