/**
 * Lists the simple commands that a bash command line would run, as far as its text shows: also those in
 * pipelines, subshells, substitutions, behind `sudo` and `xargs`, and in `bash -c '…'`. The reading is
 * no barrier (the sandbox is); it lets rules match commands rather than spellings. Where the text does
 * not show the commands, the reading is `opaque`.
 */
import { ShellLexer, type Token, type Word } from "./shell-lexer.ts";
import { evaluatedArguments, evaluatesTarget } from "./shell-subscripts.ts";
import { ShellVariables } from "./shell-variables.ts";
import { unwrap } from "./unwrap-command.ts";

export interface SimpleCommand {
  /** Name of the program without its folder; empty if there are only assignments or redirections. */
  name: string;
  words: readonly Word[];
  /** Names of the variables set by `NAME=value` before the command. */
  assignments: readonly string[];
  /** Files that the command is redirected from or to. */
  redirects: readonly Redirect[];
  /** True if more arguments come from its input (`xargs`, `find -exec`). */
  openEnded: boolean;
}

interface Redirect {
  operator: string;
  target: Word;
}

export interface ShellReading {
  commands: SimpleCommand[];
  /** True if the text does not show everything that will run. */
  opaque: boolean;
  /** True if the text was too long or too deeply nested to be read to its end; nobody writes so by hand. */
  tangled: boolean;
}

/** Maximum length of a command. Nobody writes or reads a longer one, so it is not read at all. */
export const MAX_COMMAND_CHARS = 20_000;
const MAX_DEPTH = 12;
const MAX_COMMANDS = 5_000;
/** Maximum of words in all commands together: each wrapper repeats the words of the command it wraps. */
const MAX_WORDS = 50_000;
/** Maximum of characters in all texts together: nested text is read again. */
const MAX_CHARS = 100_000;
/** Maximum length of a value that is followed, so that doubling it cannot fill the memory. */
const MAX_VALUE_CHARS = 200;
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/;
/** Words that may stand before a command without being one. */
const LEADING: ReadonlySet<string> = new Set([
  ..."if then else elif while until do ! { } fi done esac".split(" "),
]);
const KEYWORDS: ReadonlySet<string> = new Set(["for", "select", "case", "function", "coproc"]);
const DECLARES: ReadonlySet<string> = new Set([
  "export",
  "local",
  "declare",
  "readonly",
  "typeset",
]);

export function readCommands(text: string): ShellReading {
  const reading: ShellReading = { commands: [], opaque: false, tangled: false };
  if (text.length > MAX_COMMAND_CHARS) {
    giveUp(reading);
    return reading;
  }
  try {
    // IFS is a blank until the command sets it: `git$IFS` and `push` are two words.
    const variables = new ShellVariables();
    variables.set("IFS", " ");
    new Reader(reading, { words: MAX_WORDS, chars: MAX_CHARS }, 0, variables).read(text);
  } catch (error) {
    // The call stack is full: the command is nested too deeply.
    if (!(error instanceof RangeError)) throw error;
    giveUp(reading);
  }
  return reading;
}

function giveUp(reading: ShellReading): void {
  reading.opaque = true;
  reading.tangled = true;
}

/** Returns the command as one line, each word as the program would get it. */
export function commandText({ words }: SimpleCommand): string {
  return words.map((word) => word.text).join(" ");
}

/** Remaining budget for reading. */
interface Budget {
  words: number;
  chars: number;
}

interface Draft {
  assignments: { name: string; value: Word }[];
  words: Word[];
  redirects: Redirect[];
  bodies: string[];
}

class Reader {
  readonly #reading: ShellReading;
  /** Shared by all readers of one command line. */
  readonly #budget: Budget;
  readonly #depth: number;
  readonly #variables: ShellVariables;
  #draft: Draft = emptyDraft();
  /** Known output of the preceding command in a pipeline. */
  #piped: string | null = null;
  /** A command whose here-document is still to come. */
  #awaiting: { words: readonly Word[]; openEnded: boolean } | null = null;

  constructor(reading: ShellReading, budget: Budget, depth: number, variables: ShellVariables) {
    this.#reading = reading;
    this.#budget = budget;
    this.#depth = depth;
    this.#variables = variables;
  }

  read(text: string): void {
    this.#budget.chars -= text.length;
    if (this.#depth > MAX_DEPTH || this.#budget.chars < 0) giveUp(this.#reading);
    if (this.#reading.tangled) return;
    const lexer = new ShellLexer(text, this.#variables);
    for (let token = lexer.next(); token && !this.#reading.tangled; token = lexer.next())
      this.#take(token);
    this.#finish("");
    if (lexer.broken || lexer.evaluates) this.#reading.opaque = true;
    for (const inner of lexer.nested) this.#readInside(inner);
  }

  #readInside(text: string): void {
    const variables = new ShellVariables(this.#variables);
    new Reader(this.#reading, this.#budget, this.#depth + 1, variables).read(text);
  }

  #take(token: Token): void {
    if (token.type === "word") this.#takeWord(token.word);
    else if (token.type === "operator") this.#finish(token.text);
    else if (token.type === "redirect") this.#takeRedirect(token);
    else if (this.#awaiting) this.#unwrapWith(this.#awaiting, token.body);
  }

  #takeRedirect(redirect: Redirect): void {
    if (!redirect.operator.startsWith("<<")) this.#draft.redirects.push(redirect);
    else {
      // Input of a program is not read as a command, unless the program is a shell.
      this.#reading.opaque = true;
      if (redirect.operator === "<<<") this.#draft.bodies.push(redirect.target.text);
    }
  }

  #takeWord(word: Word): void {
    const { words, assignments } = this.#draft;
    if (words.length > 0) {
      words.push(word);
      return;
    }
    const name = ASSIGNMENT.exec(word.text)?.[1];
    if (name !== undefined && evaluatesTarget(word.text)) this.#reading.opaque = true;
    if (name !== undefined)
      assignments.push({
        name,
        value: { ...word, text: word.text.slice(word.text.indexOf("=") + 1) },
      });
    else if (!this.#isLeading(word)) words.push(word);
  }

  /**
   * True for a keyword before a command.
   * Quoted, or behind a redirection, the word is the name of a program.
   */
  #isLeading({ text, known, quoted }: Word): boolean {
    return known && !quoted && this.#draft.redirects.length === 0 && LEADING.has(text);
  }

  #finish(operator: string): void {
    const draft = this.#draft;
    this.#draft = emptyDraft();
    const [first] = draft.words;
    if (!first) {
      this.#withoutProgram(draft, operator);
    } else if (first.known && KEYWORDS.has(first.text)) {
      this.#keyword(draft, first.text);
    } else {
      this.#command(draft, first);
    }
    const writes = operator === "|" || operator === "|&" ? writtenBy(draft) : null;
    this.#piped = operator.startsWith("|") && operator !== "||" ? (writes ?? "") : null;
  }

  /**
   * Handles a command without a program, which may affect later ones:
   * it sets a variable or empties a file.
   */
  #withoutProgram(draft: Draft, operator: string): void {
    const { redirects, assignments } = draft;
    if (redirects.length > 0 || assignments.length > 0) this.#emit(draft, []);
    for (const { name, value } of assignments) this.#assign(name, value);
    if (operator === "(") this.#reading.opaque ||= assignments.length > 0;
  }

  /** Handles keywords whose words are no commands; their effect is read from the text that follows. */
  #keyword(draft: Draft, keyword: string): void {
    if (keyword === "for" || keyword === "select") {
      this.#loop(draft);
      return;
    }
    this.#reading.opaque = true;
    if (keyword === "case") return;
    const brace = draft.words.findIndex(({ text }) => text === "{");
    const words =
      brace < 0 && keyword === "coproc" ? draft.words.slice(1) : draft.words.slice(brace + 1);
    const [first] = words;
    if (first && (brace >= 0 || keyword === "coproc")) this.#command({ ...draft, words }, first);
  }

  /** Handles a loop. Its variable may be one that programs or bash depend on: `for PATH in …`. */
  #loop(draft: Draft): void {
    const [, name, next, ...body] = draft.words;
    if (!name) return;
    this.#emit({ ...draft, assignments: [{ name: name.text, value: name }] }, []);
    this.#variables.set(name.text, null);
    const [first] = body;
    if (next?.text === "do" && first) this.#command({ ...emptyDraft(), words: body }, first);
  }

  #command(draft: Draft, first: Word): void {
    if (!first.known || first.globs) this.#reading.opaque = true;
    if (DECLARES.has(first.text)) this.#declare(draft.words);
    this.#emit(draft, draft.words);
    const command = { words: draft.words, openEnded: false };
    this.#awaiting = command;
    this.#unwrapWith(command, draft.bodies[0] ?? this.#piped ?? undefined);
  }

  #declare(words: readonly Word[]): void {
    for (const word of words.slice(1)) {
      const name = ASSIGNMENT.exec(word.text)?.[1];
      if (name === undefined) continue;
      this.#assign(name, { ...word, text: word.text.slice(word.text.indexOf("=") + 1) });
    }
  }

  #assign(name: string, value: Word): void {
    const isKept = value.known && value.text.length <= MAX_VALUE_CHARS;
    this.#variables.set(name, isKept ? value.text : null);
  }

  #emit(draft: Draft, words: readonly Word[], openEnded = false): void {
    const { commands } = this.#reading;
    this.#budget.words -= words.length;
    if (commands.length >= MAX_COMMANDS || this.#budget.words < 0) giveUp(this.#reading);
    commands.push({
      name: programName(words[0]),
      words,
      assignments: draft.assignments.map(({ name }) => name),
      redirects: draft.redirects,
      openEnded,
    });
    this.#evaluate(words);
  }

  /** Reads quoted text that a builtin evaluates, as far as its commands can be seen. */
  #evaluate(words: readonly Word[]): void {
    for (const { text, known } of evaluatedArguments(words)) {
      this.#reading.opaque = true;
      if (known && /\$\(|`/.test(text)) this.#readInside(`: "${text.replaceAll('"', '\\"')}"`);
    }
  }

  /** Unwraps a command. `input` is its standard input, if known; empty: unknown input. */
  #unwrapWith(
    command: { words: readonly Word[]; openEnded: boolean },
    input: string | undefined,
    depth = 0,
  ): void {
    if (depth > MAX_DEPTH) giveUp(this.#reading);
    if (this.#reading.tangled) return;
    const inside = unwrap(programName(command.words[0]), command.words, input);
    if (inside.opaque) this.#reading.opaque = true;
    for (const script of inside.scripts) this.#readInside(script);
    for (const { words, openEnded } of inside.commands) {
      if (words.length === 0 || this.#reading.tangled) continue;
      const inner = { words, openEnded: openEnded || command.openEnded };
      if (!words[0]?.known) this.#reading.opaque = true;
      this.#emit(emptyDraft(), words, inner.openEnded);
      this.#unwrapWith(inner, input, depth + 1);
    }
  }
}

function emptyDraft(): Draft {
  return { assignments: [], words: [], redirects: [], bodies: [] };
}

export function programName(word: Word | undefined): string {
  return word?.text.replace(/^.*\//s, "") ?? "";
}

/** Returns the output of `echo` and `printf`; null if it is unknown. */
function writtenBy({ words }: Draft): string | null {
  const name = programName(words[0]);
  if (name !== "echo" && name !== "printf") return null;
  if (words.some((word) => !word.known)) return null;
  const texts = words.slice(1).map((word) => word.text);
  const shown = name === "echo" ? texts.filter((text) => !/^-[neE]+$/.test(text)) : texts;
  return shown.join(" ").replaceAll("\\n", "\n");
}
