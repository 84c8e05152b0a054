/** Whether a command deletes whole trees, and whether what it deletes is the session's own. */
import { programName, type ShellReading, type SimpleCommand } from "./bash-commands.ts";
import { isPlainInside } from "./paths.ts";
import type { Word } from "./shell-lexer.ts";

/** True when something is deleted with all that is in it and it may not be the session's own work. */
export function deletesTrees({ commands }: ShellReading, fresh: boolean): boolean {
  const deletions = commands.flatMap((command) => {
    const targets = deletedTrees(command);
    return targets ? [targets] : [];
  });
  if (deletions.length === 0) return false;
  if (!fresh || commands.some(leavesFolder)) return true;
  return deletions.some((targets) => targets.length === 0 || !targets.every(isOwn));
}

function isOwn(word: Word): boolean {
  return word.known && isPlainInside(word.text);
}

/** After this, a relative path may be anywhere. */
function leavesFolder({ name, words }: SimpleCommand): boolean {
  if (name !== "cd" && name !== "pushd") return false;
  const target = words.slice(1).find(({ text }) => text !== "--" && !/^-[LPe@]+$/.test(text));
  return !(target?.known && isPlainInside(target.text));
}

/** The trees a command deletes; none named means that they are not known; undefined: it deletes none. */
function deletedTrees(command: SimpleCommand): readonly Word[] | undefined {
  const args = command.words.slice(1);
  switch (command.name) {
    case "rm":
      return isRecursive(args) ? openOr(command, operandsOf(args)) : undefined;
    case "rimraf":
    case "shred":
    case "srm":
      return openOr(command, operandsOf(args));
    case "find":
      return findDeletes(args) ? startsOf(args) : undefined;
    case "git":
    case "git-clean":
      return gitCleans(command) ? [] : undefined;
    case "rsync":
      return args.some(({ text }) => /^--(?:del|remove-s)/.test(text)) ? [] : undefined;
    default:
      return undefined;
  }
}

function openOr(command: SimpleCommand, operands: readonly Word[]): readonly Word[] {
  return command.openEnded ? [] : operands;
}

/** Options count wherever they stand, up to `--`; what is not known may be one. */
function isRecursive(args: readonly Word[]): boolean {
  for (const { text, loose } of args) {
    if (text === "--") return false;
    if (/^-[A-Za-z]*[rR]/.test(text) || /^--r/.test(text) || loose) return true;
  }
  return false;
}

function operandsOf(args: readonly Word[]): Word[] {
  const end = args.findIndex(({ text }) => text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const after = end < 0 ? [] : args.slice(end + 1);
  return [...before.filter(({ text }) => !text.startsWith("-")), ...after];
}

const DELETES = new Set(["rm", "shred", "unlink", "rmdir", "srm", "rimraf"]);

function findDeletes(args: readonly Word[]): boolean {
  return args.some(({ text }, at) => {
    if (text === "-delete") return true;
    return /^-(?:exec|execdir|ok|okdir)$/.test(text) && DELETES.has(programName(args[at + 1]));
  });
}

/** Where find begins: everything before its first test, or the present folder. */
function startsOf(args: readonly Word[]): readonly Word[] {
  const rest = args.filter(({ text }) => !/^-[HLP]$/.test(text));
  const end = rest.findIndex(({ text }) => /^[-(!]/.test(text));
  return end < 0 ? rest : rest.slice(0, end);
}

function gitCleans(command: SimpleCommand): boolean {
  const [subcommand, ...args] = gitWords(command);
  return subcommand === "clean" && !args.some((text) => /^(?:-[a-z]*n|--dry-run)/.test(text));
}

const GIT_VALUES = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
]);

/** A git command from its subcommand on; empty for any other program. */
export function gitWords({ name, words }: SimpleCommand): string[] {
  const texts = words.slice(1).map((word) => word.text);
  if (name.startsWith("git-")) return [name.slice("git-".length), ...texts];
  if (name !== "git") return [];
  let at = 0;
  while (at < texts.length && (texts[at] as string).startsWith("-"))
    at += GIT_VALUES.has(texts[at] as string) ? 2 : 1;
  return texts.slice(at);
}
