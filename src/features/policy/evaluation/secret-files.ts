/** Commands and patterns that reach for files that usually hold secrets. */
import { isSecretPath } from "#protocol/names/secret-paths.ts";
import type { ShellReading, SimpleCommand } from "../shell/bash-commands.ts";
import { readGit } from "../shell/git-words.ts";
import type { Word } from "../shell/shell-lexer.ts";
import { closingBrace, closingParen } from "../shell/shell-quotes.ts";
import { matchesGlob, newSteps, type Steps } from "./patterns.ts";

/** Sample names that show whether a glob would find a secret. `~` stands for a name nobody spells out. */
const SAMPLES = [
  ".env",
  ".env.local",
  "id_rsa",
  "id_ed25519",
  "~.pem",
  "~.key",
  "credentials",
  ".git-credentials",
  ".npmrc",
  ".netrc",
  ".vault-token",
  ".ssh",
  ".aws",
];
/** Minimum of literal characters: a shorter glob says nothing about its aim, unless it begins with a dot. */
const MIN_LITERAL = 2;
/**
 * Maximum length of a glob. No file name is longer,
 * so a longer glob is taken for an attempt to hide something.
 */
const MAX_GLOB_CHARS = 256;

/** True if a command names a secret file: as an argument, within one, or as its input or output. */
export function touchesSecrets({ commands, opaque }: ShellReading): boolean {
  const steps = newSteps();
  const isFed = commands.some(({ openEnded }) => openEnded);
  // Printing a name does not open the file, unless another command reads the output.
  const isOnlyPrinted = ({ name }: SimpleCommand) =>
    !isFed && !opaque && (name === "echo" || name === "printf");
  return commands.some(
    (command) =>
      (!isOnlyPrinted(command) && operandsOf(command).some((word) => namesSecret(word, steps))) ||
      command.redirects.some(({ target }) => namesSecret(target, steps)) ||
      (isFed && command.name === "find" && findsSecrets(command, steps)),
  );
}

/** Programs whose first argument is an expression to search for, not a file. */
const SEARCHES: ReadonlySet<string> = new Set(
  "grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk jq yq".split(" "),
);
/** Options that pass the expression; every argument is then a file. */
const GIVES_EXPRESSION = /^(?:-[A-Za-z]*[ef]|--(?:reg\w*|f|fi|fil|file|e|ex|exp\w*)(?:=|$))/;

/** Options followed by a message for people, not by a file. */
const MESSAGE = /^(?:-[a-z]*m|--message)$/;

function operandsOf({ name, words }: SimpleCommand): readonly Word[] {
  const git = readGit(name, words);
  if (git?.subcommand?.text === "grep") return filesOfSearch(git.args);
  const args = words.slice(1);
  if (git) return args.filter((_, at) => !MESSAGE.test(args[at - 1]?.text ?? ""));
  return SEARCHES.has(name) ? filesOfSearch(args) : args;
}

function filesOfSearch(args: readonly Word[]): readonly Word[] {
  if (args.some(({ text }) => GIVES_EXPRESSION.test(text))) return args;
  const first = args.findIndex(
    ({ text }, at) => !text.startsWith("-") && !isCount(args[at - 1]?.text ?? "", text),
  );
  return args.filter((_, at) => at !== first);
}

/**
 * True for the number behind options such as `-A 3`,
 * a count of lines in each of these programs that has them.
 */
function isCount(option: string, text: string): boolean {
  return /^-[A-Za-z]*[ABCm]$/.test(option) && /^\d+$/.test(text);
}

function namesSecret(word: Word, steps: Steps): boolean {
  const { text, globs, known } = word;
  const picks = /^--(?:include|i?glob)=(.*)$/s.exec(text)?.[1];
  if (picks !== undefined && isSecretGlob(picks, steps)) return true;
  if (pieces(text).some((piece) => isSecretPath(piece) || (globs && isSecretGlob(piece, steps))))
    return true;
  return !known && couldSpellSecret(text, steps);
}

function pieces(text: string): string[] {
  return text.split(/[\s=:@,'"]+/);
}

/** True if a word with an expansion could become a secret's name: `.e${x}nv`, `${x:-.env}`. */
function couldSpellSecret(text: string, steps: Steps): boolean {
  const inside = text.split(/[\s=:@,'"{}()$`]+/).map((piece) => piece.replace(/^[-+?]+/, ""));
  if (inside.some(isSecretPath)) return true;
  const open = withStars(text);
  return open !== text && pieces(open).some((piece) => isSecretGlob(piece, steps));
}

/** Replaces each expansion by a star, because it may become anything. */
function withStars(text: string): string {
  let result = "";
  let at = 0;
  while (at < text.length) {
    const end = expansionEnd(text, at);
    result += end > at ? "*" : text[at];
    at = Math.max(end, at + 1);
  }
  return result;
}

/** Returns the index after the expansion that begins at `at`, or `at` if none does. */
function expansionEnd(text: string, at: number): number {
  const past = (end: number) => (end < 0 ? text.length : end + 1);
  if (text[at] === "`") return past(text.indexOf("`", at + 1));
  if (text[at] !== "$") return at;
  if (text[at + 1] === "(") return past(closingParen(text, at + 1));
  if (text[at + 1] === "{") return past(closingBrace(text, at + 1));
  return at + (/^\$(?:\w{1,100}|[@*#?$!-])/.exec(text.slice(at, at + 101))?.[0].length ?? 0);
}

/** True for `find -name '.e*'`. Matters only when another command gets the result. */
function findsSecrets({ words }: SimpleCommand, steps: Steps): boolean {
  return words.some(
    ({ text }, at) =>
      /^-i?(?:name|path|wholename)$/.test(words[at - 1]?.text ?? "") && isSecretGlob(text, steps),
  );
}

export function isSecretGlob(pattern: string, steps: Steps = newSteps()): boolean {
  const name = pattern.slice(pattern.lastIndexOf("/") + 1);
  if (name.length > MAX_GLOB_CHARS) return true;
  if (isSecretPath(pattern) || name.split(/[{},]/).some(isSecretPath)) return true;
  const { simple, literals } = simplify(name);
  if (!simple.startsWith(".") && literals < MIN_LITERAL) return false;
  if (literals === simple.length) return false;
  return SAMPLES.some((sample) => matchesGlob(simple, sample, "text", steps) !== false);
}

/** Replaces `[…]` by `?` and `{…}` by `*`, and counts the literal characters. */
function simplify(name: string): { simple: string; literals: number } {
  let simple = "";
  let literals = 0;
  for (let at = 0; at < name.length; at++) {
    const end = groupEnd(name, at);
    const char = end < 0 ? (name[at] as string) : name[at] === "[" ? "?" : "*";
    simple += char;
    if (end < 0 && char !== "*" && char !== "?") literals += 1;
    at = Math.max(at, end);
  }
  return { simple, literals };
}

/** Returns the index where the group that begins at `at` ends, or -1. An unclosed bracket is a literal. */
function groupEnd(name: string, at: number): number {
  const char = name[at];
  if (char !== "[" && char !== "{") return -1;
  return name.indexOf(char === "[" ? "]" : "}", at + 1);
}
