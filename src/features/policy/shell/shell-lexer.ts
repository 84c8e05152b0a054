/**
 * Splits a bash command line into words, operators and redirections, without running anything. A word
 * is known only if nothing in it is expanded; `text` is then exact, else a best guess that keeps
 * unknown pieces as they were written.
 */
import { evaluatesNames, evaluatesParameter } from "./shell-arithmetic.ts";
import {
  closingBrace,
  closingParen,
  decodeAnsi,
  heredocBody,
  isPlainAnsi,
  namesDescriptor,
  substitutionsIn,
} from "./shell-quotes.ts";
import type { ShellVariables } from "./shell-variables.ts";

export interface Word {
  text: string;
  /** True if nothing in the word depends on the moment it runs. */
  known: boolean;
  /**
   * True if the word begins with an expansion outside quotes,
   * so it may become several words, or an option.
   */
  loose: boolean;
  /** True if the word has `*`, `?` or `[` outside quotes. */
  globs: boolean;
  /** True if a part was quoted, so the word is no keyword. */
  quoted?: boolean;
}

export type Token =
  | { type: "word"; word: Word }
  /** Token that ends a simple command. */
  | { type: "operator"; text: string }
  | { type: "redirect"; operator: string; target: Word }
  | { type: "heredoc"; body: string };

interface Draft extends Word {
  braces: boolean;
  quoted: boolean;
  /** True if unquoted text came from a variable and will be split at blanks. */
  splits: boolean;
}

interface PendingHeredoc {
  delimiter: string;
  isQuoted: boolean;
  stripsTabs: boolean;
}

const BLANK = /[ \t]/;
const ENDS_WORD = /[ \t\n;&|()<>]/;
const OPERATOR = /^(?:&&|\|\||;;&|;;|;&|\|&|[;&|()\n])/;
const REDIRECT = /^(?:\d+|\{\w+\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())/;
const NAME = /^[A-Za-z_]\w*/;

/** Limits on splitting words that come from variables: a guess needs no more. */
const MAX_SPLITS = 200;
const MAX_SPLIT_CHARS = 2_000;

export class ShellLexer {
  /** Texts of the command substitutions read so far. */
  readonly nested: string[] = [];
  /** True if something was left open or is not understood. */
  broken = false;
  /** True if an expansion evaluates the value of a variable. */
  evaluates = false;
  readonly #text: string;
  readonly #variables: ShellVariables;
  readonly #ready: Token[] = [];
  #heredocs: PendingHeredoc[] = [];
  #splitsLeft = MAX_SPLITS;
  #at = 0;

  /** Takes `variables`, which the reader fills as it reads assignments. */
  constructor(text: string, variables: ShellVariables) {
    this.#text = text;
    this.#variables = variables;
  }

  next(): Token | undefined {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready) return ready;
      this.#skipBlanks();
      if (this.#at >= this.#text.length) return undefined;
      const rest = this.#text.slice(this.#at, this.#at + 64);
      const redirect = REDIRECT.exec(rest)?.[0];
      if (redirect !== undefined) return this.#redirect(redirect);
      const operator = OPERATOR.exec(rest)?.[0];
      if (operator !== undefined) return this.#operator(operator);
      // A word may become none (`{,}`); the text after it must still be read.
      this.#words();
    }
  }

  #operator(operator: string): Token {
    this.#at += operator.length;
    // `((` is arithmetic or a subshell in a subshell; only its end shows which.
    if (operator === "(" && this.#text[this.#at] === "(") this.evaluates = true;
    if (operator === "\n") this.#readHeredocs();
    return { type: "operator", text: operator };
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char !== undefined && BLANK.test(char)) this.#at += 1;
      else if (this.#text.startsWith("\\\n", this.#at)) this.#at += 2;
      else if (char === "#") this.#at = lineEnd(this.#text, this.#at);
      else return;
    }
  }

  #words(): void {
    const from = this.#at;
    const draft = this.#word();
    if (namesDescriptor(this.#text, from, this.#at)) this.evaluates = true;
    if (draft.splits && --this.#splitsLeft < 0) draft.splits = false;
    for (const word of splitDraft(draft)) this.#ready.push({ type: "word", word });
  }

  #redirect(matched: string): Token {
    this.#at += matched.length;
    const operator = matched.replace(/^(?:\d+|\{\w+\})/, "");
    if (matched.startsWith("{")) this.evaluates = true;
    this.#skipBlanks();
    const draft = this.#word();
    if (operator === "<<" || operator === "<<-") {
      const { text: delimiter, quoted: isQuoted } = draft;
      this.#heredocs.push({ delimiter, isQuoted, stripsTabs: operator === "<<-" });
    }
    return { type: "redirect", operator, target: asWord(draft) };
  }

  /** Reads the bodies of the here-documents that began on the line just ended. */
  #readHeredocs(): void {
    for (const { delimiter, isQuoted, stripsTabs } of this.#heredocs) {
      const { body, end } = heredocBody(this.#text, this.#at, delimiter, stripsTabs);
      this.#at = end;
      if (!isQuoted) this.nested.push(...substitutionsIn(body));
      this.#ready.push({ type: "heredoc", body });
    }
    this.#heredocs = [];
  }

  #word(): Draft {
    const draft = emptyDraft();
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === "<" || char === ">") {
        if (this.#text[this.#at + 1] !== "(" || !this.#processSubstitution(draft)) break;
      } else if (ENDS_WORD.test(char)) break;
      else this.#piece(draft, char);
    }
    return draft;
  }

  #processSubstitution(draft: Draft): boolean {
    if (draft.text !== "") return false;
    this.#substitution(draft, this.#at + 1);
    return true;
  }

  #piece(draft: Draft, char: string): void {
    switch (char) {
      case "\\":
        this.#escape(draft);
        break;
      case "'":
        this.#single(draft);
        break;
      case '"':
        this.#at += 1;
        this.#double(draft);
        break;
      case "`":
        this.#backticks(draft);
        break;
      case "$":
        this.#dollar(draft, false);
        break;
      default:
        if (char === "*" || char === "?" || char === "[") draft.globs = true;
        if (char === "{") draft.braces = true;
        draft.text += char;
        this.#at += 1;
    }
  }

  #escape(draft: Draft): void {
    draft.quoted = true;
    if (this.#text[this.#at + 1] !== "\n") draft.text += this.#text[this.#at + 1] ?? "";
    this.#at += 2;
  }

  #single(draft: Draft): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    draft.quoted = true;
    draft.text += this.#text.slice(this.#at + 1, this.#close(end));
    this.#at = this.#close(end) + 1;
  }

  /** Returns the index of an end; the end of the text if it was left open. */
  #close(end: number): number {
    if (end >= 0) return end;
    this.broken = true;
    return this.#text.length;
  }

  #double(draft: Draft): void {
    draft.quoted = true;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) {
        this.broken = true;
        return;
      }
      if (char === '"') {
        this.#at += 1;
        return;
      }
      if (char === "$") this.#dollar(draft, true);
      else if (char === "`") this.#backticks(draft);
      else if (char === "\\") this.#escapeInDouble(draft);
      else {
        draft.text += char;
        this.#at += 1;
      }
    }
  }

  #escapeInDouble(draft: Draft): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (next !== "\n") draft.text += '$`"\\'.includes(next) ? next : `\\${next}`;
    this.#at += 2;
  }

  #backticks(draft: Draft): void {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== "`")
      end += this.#text[end] === "\\" ? 2 : 1;
    if (end >= this.#text.length) this.broken = true;
    const inner = this.#text.slice(this.#at + 1, end);
    this.nested.push(inner.replaceAll(/\\([`$\\])/g, "$1"));
    unknownPiece(draft, this.#text.slice(this.#at, end + 1), !draft.quoted);
    this.#at = end + 1;
  }

  #dollar(draft: Draft, inQuotes: boolean): void {
    const next = this.#text[this.#at + 1] ?? "";
    const name = NAME.exec(this.#text.slice(this.#at + 1, this.#at + 200))?.[0];
    if (next === "(") this.#substitution(draft, this.#at + 1, inQuotes);
    else if (next === "[") {
      // `$[…]` is the old spelling of arithmetic; its content is read as part of the word.
      this.evaluates = true;
      unknownPiece(draft, "$", !inQuotes);
      this.#at += 1;
    } else if (next === "{") this.#parameter(draft, inQuotes);
    else if (next === "'" && !inQuotes) this.#ansi(draft);
    else if (next === '"' && !inQuotes) {
      this.#at += 2;
      this.#double(draft);
    } else if (name !== undefined) this.#variable(draft, name, name.length + 1, inQuotes);
    else if (/[\d@*#?$!-]/.test(next)) {
      unknownPiece(draft, `$${next}`, !inQuotes);
      this.#at += 2;
    } else {
      // A line that continues after the dollar: the next line belongs to the expansion.
      if (this.#text.startsWith("\\\n", this.#at + 1)) this.broken = true;
      draft.text += "$";
      this.#at += 1;
    }
  }

  #ansi(draft: Draft): void {
    let end = this.#at + 2;
    while (end < this.#text.length && this.#text[end] !== "'")
      end += this.#text[end] === "\\" ? 2 : 1;
    if (end >= this.#text.length) this.broken = true;
    draft.quoted = true;
    const written = this.#text.slice(this.#at + 2, end);
    if (!isPlainAnsi(written)) draft.known = false;
    draft.text += decodeAnsi(written);
    this.#at = end + 1;
  }

  /** Reads a command substitution; `open` is the index of its parenthesis. */
  #substitution(draft: Draft, open: number, inQuotes = false): void {
    const end = this.#close(closingParen(this.#text, open));
    const inner = this.#text.slice(open + 1, end);
    const isArithmetic = inner.startsWith("(") && inner.endsWith(")");
    if (isArithmetic && evaluatesNames(inner)) this.evaluates = true;
    this.nested.push(...(isArithmetic ? substitutionsIn(inner) : [inner]));
    unknownPiece(draft, this.#text.slice(this.#at, end + 1), !inQuotes);
    this.#at = end + 1;
  }

  #parameter(draft: Draft, inQuotes: boolean): void {
    const end = this.#close(closingBrace(this.#text, this.#at + 1));
    const inner = this.#text.slice(this.#at + 2, end);
    const name = NAME.exec(inner)?.[0];
    if (name !== undefined && name.length === inner.length) {
      this.#variable(draft, name, inner.length + 3, inQuotes);
      return;
    }
    if (evaluatesParameter(inner)) this.evaluates = true;
    this.nested.push(...substitutionsIn(inner));
    unknownPiece(draft, this.#text.slice(this.#at, end + 1), !inQuotes);
    this.#at = end + 1;
  }

  #variable(draft: Draft, name: string, length: number, inQuotes: boolean): void {
    const value = this.#variables.get(name);
    const written = this.#text.slice(this.#at, this.#at + length);
    const guess = draft.text.length > MAX_SPLIT_CHARS ? written : (value ?? written);
    unknownPiece(draft, guess, !inQuotes);
    if (value !== null && !inQuotes && draft.text.length <= MAX_SPLIT_CHARS) draft.splits = true;
    this.#at += length;
  }
}

function emptyDraft(): Draft {
  return {
    text: "",
    known: true,
    loose: false,
    globs: false,
    braces: false,
    quoted: false,
    splits: false,
  };
}

function unknownPiece(draft: Draft, text: string, isLoose: boolean): void {
  if (draft.text === "" && isLoose) draft.loose = true;
  draft.known = false;
  draft.text += text;
}

function asWord({ text, known, loose, globs, quoted }: Draft): Word {
  return { text, known, loose, globs, quoted };
}

const MAX_BRACE_WORDS = 64;
const MAX_BRACE_CHARS = 300;

function splitDraft(draft: Draft): Word[] {
  const word = asWord(draft);
  if (draft.splits) {
    const pieces = draft.text.split(/\s+/).filter((piece) => piece !== "");
    return pieces.length > 1 ? pieces.map((text) => ({ ...word, text })) : [word];
  }
  if (!draft.braces || draft.quoted)
    return [draft.braces && isBraced(draft.text) ? unsure(word) : word];
  const texts = expandBraces(draft.text);
  if (texts === undefined) return [unsure(word)];
  return texts.map((text) => ({ ...word, text }));
}

function isBraced(text: string): boolean {
  const open = text.indexOf("{");
  const inner = text.slice(open + 1, text.lastIndexOf("}"));
  return open >= 0 && (inner.includes(",") || inner.includes(".."));
}

function unsure(word: Word): Word {
  return { ...word, known: false };
}

/** Expands `{a,b}` into words as bash would; undefined if that is not clear. */
function expandBraces(text: string): string[] | undefined {
  if (!isBraced(text)) return [text];
  if (text.length > MAX_BRACE_CHARS) return undefined;
  let all = [text];
  // Expand one pair after the other and count empty results too: `{,}` doubles like any pair.
  for (;;) {
    const next = all.flatMap(expandFirst);
    if (next.length > MAX_BRACE_WORDS) return undefined;
    if (next.length === all.length) break;
    all = next;
  }
  return all.some(isBraced) ? undefined : all.filter((piece) => piece !== "");
}

/** A pair without braces in it. Each comma matches in only one way, so that an open brace costs one pass. */
const PAIR = /\{([^{},]*(?:,[^{},]*)+)\}/;

function expandFirst(text: string): string[] {
  const match = PAIR.exec(text);
  if (!match) return [text];
  const [pair, list = ""] = match;
  const before = text.slice(0, match.index);
  const after = text.slice(match.index + pair.length);
  return list.split(",").map((piece) => before + piece + after);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
