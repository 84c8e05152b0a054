/** Commands and patterns that reach for files that usually hold secrets. */
import { isSecretPath } from "#protocol/names/secret-paths.ts";
import type { ShellReading, SimpleCommand } from "../shell/bash-commands.ts";
import { readGit } from "../shell/git-words.ts";
import type { Word } from "../shell/shell-lexer.ts";
import { closingBrace, closingParen } from "../shell/shell-quotes.ts";
import { matchesGlob, newSteps, type Steps } from "./patterns.ts";

/** What a glob is tried on, to see whether it would find a secret. `~` is a name nobody spells out. */
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
/** A glob with fewer letters says nothing about what is wanted, unless it begins with a dot. */
const MIN_LITERAL = 2;
/** Longer names than any file has; who writes such a glob hides something. */
const MAX_GLOB_CHARS = 256;

/** Whether a command names such a file, as an argument, within one, or as its input or output. */
export function touchesSecrets({ commands, opaque }: ShellReading): boolean {
  const steps = newSteps();
  const isFed = commands.some(({ openEnded }) => openEnded);
  // Saying a name is not opening the file, unless something else takes it up.
  const isSaid = ({ name }: SimpleCommand) =>
    !isFed && !opaque && (name === "echo" || name === "printf");
  return commands.some(
    (command) =>
      (!isSaid(command) && operandsOf(command).some((word) => namesSecret(word, steps))) ||
      command.redirects.some(({ target }) => namesSecret(target, steps)) ||
      (isFed && command.name === "find" && findsSecrets(command, steps)),
  );
}

/** Programs whose first argument is what to look for, not where. */
const SEARCHES: ReadonlySet<string> = new Set(
  "grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk jq yq".split(" "),
);
/** Options that give it instead; then every argument is a file. */
const GIVES_EXPRESSION = /^(?:-[A-Za-z]*[ef]|--(?:reg\w*|f|fi|fil|file|e|ex|exp\w*)(?:=|$))/;

/** What follows is said to people. */
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

/** `-A 3`: how many lines, for all of these programs that have it. */
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

/** A word with something in it that is put in when it runs: `.e${x}nv`, `${x:-.env}`. */
function couldSpellSecret(text: string, steps: Steps): boolean {
  const inside = text.split(/[\s=:@,'"{}()$`]+/).map((piece) => piece.replace(/^[-+?]+/, ""));
  if (inside.some(isSecretPath)) return true;
  const open = withStars(text);
  return open !== text && pieces(open).some((piece) => isSecretGlob(piece, steps));
}

/** Each expansion as a star: it may become anything. */
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

/** Past the expansion that begins here; here when none does. */
function expansionEnd(text: string, at: number): number {
  const past = (end: number) => (end < 0 ? text.length : end + 1);
  if (text[at] === "`") return past(text.indexOf("`", at + 1));
  if (text[at] !== "$") return at;
  if (text[at + 1] === "(") return past(closingParen(text, at + 1));
  if (text[at + 1] === "{") return past(closingBrace(text, at + 1));
  return at + (/^\$(?:\w{1,100}|[@*#?$!-])/.exec(text.slice(at, at + 101))?.[0].length ?? 0);
}

/** `find -name '.e*'`, when what it finds is handed on. */
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

/** `[…]` as one unknown letter, `{…}` as any text; how many letters are told. */
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

/** Where the group that begins here ends; -1 when none does. One that nothing closes is a letter. */
function groupEnd(name: string, at: number): number {
  const char = name[at];
  if (char !== "[" && char !== "{") return -1;
  return name.indexOf(char === "[" ? "]" : "}", at + 1);
}
