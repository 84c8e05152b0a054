/** Detects commands that delete whole trees or discard work that may not be the session's own. */
import { programName, type ShellReading, type SimpleCommand } from "../shell/bash-commands.ts";
import { readGit } from "../shell/git-words.ts";
import { isPlainInside } from "../shell/paths.ts";
import type { Word } from "../shell/shell-lexer.ts";

/** True if a tree is deleted, or work discarded, that may not be the session's own. */
export function deletesTrees(reading: ShellReading, fresh: boolean): boolean {
  const { commands } = reading;
  const deletions = commands.flatMap((command) => {
    const targets = deletedTrees(command);
    return targets ? [targets] : [];
  });
  const isElsewhere = !fresh || reading.opaque || commands.some(leavesFolder);
  if (isElsewhere && (deletions.length > 0 || commands.some(discardsWork))) return true;
  return deletions.some((targets) => targets.length === 0 || !targets.every(isOwn));
}

function isOwn(word: Word): boolean {
  return word.known && isPlainInside(word.text);
}

/** True if the command can change the working folder, so that a relative path may be anywhere. */
function leavesFolder({ name, words, assignments }: SimpleCommand): boolean {
  const args = words.slice(1);
  if (assignments.includes("CDPATH")) return true;
  if (words.some(({ text }) => /^CDPATH(?:\+?=|$)/.test(text))) return true;
  switch (name) {
    case "cd":
    case "pushd": {
      const target = args.find(({ text }) => text !== "--" && !/^-[LPe@n]+$/.test(text));
      return !(target?.known && isPlainInside(target.text) && !/^[-+]/.test(target.text));
    }
    case "popd":
    case "chroot":
    case "nsenter":
    case "ssh":
      return true;
    case "env":
      return args.some(({ text }) => /^(?:-[A-Za-z0]*C|--c)/.test(text));
    case "sudo":
      return args.some(({ text }) => /^(?:-[A-Za-z]*[DRi]|--(?:ch|lo))/.test(text));
    default:
      return false;
  }
}

/** Returns the trees that a command deletes: empty if they are unknown, undefined if it deletes none. */
function deletedTrees(command: SimpleCommand): readonly Word[] | undefined {
  const args = command.words.slice(1);
  switch (command.name) {
    case "rm":
      return isRecursive(args) ? openOr(command, operandsOf(args)) : undefined;
    case "rimraf":
    case "shred":
    case "srm":
    case "wipe":
      return openOr(command, operandsOf(args));
    case "find":
      return findDeletes(args) ? startingPoints(args) : undefined;
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

/** True if a recursive option stands before `--`. A word that may expand to an option counts as one. */
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

/** Returns find's starting points: everything before its first test; empty means the current folder. */
function startingPoints(args: readonly Word[]): readonly Word[] {
  const rest = args.filter(({ text }) => !/^-[HLP]$/.test(text));
  const end = rest.findIndex(({ text }) => /^[-(!]/.test(text));
  return end < 0 ? rest : rest.slice(0, end);
}

function gitCleans({ name, words }: SimpleCommand): boolean {
  const git = readGit(name, words);
  if (git?.subcommand?.text !== "clean") return false;
  return !git.args.some(({ text }) => /^(?:-[a-z]*n|--dry-run)/.test(text));
}

/** True if a command deletes many files or uncommitted changes without naming a folder. */
function discardsWork(command: SimpleCommand): boolean {
  const args = command.words.slice(1);
  switch (command.name) {
    case "rm":
    case "unlink":
      return command.openEnded || operandsOf(args).some(({ text, globs }) => globs && isAll(text));
    case "tar":
    case "bsdtar":
      return args.some(({ text }) => text.startsWith("--remove-f"));
    case "zip":
      return args.some(({ text }) => /^(?:-[A-Za-z]*m[A-Za-z]*|--move)$/.test(text));
    case "7z":
    case "7za":
      return args.some(({ text }) => text === "-sdel");
    default:
      return gitDiscardsWork(command);
  }
}

/** True for everything in a folder: `*`, `./*`, `src/*`, `.*`. */
function isAll(text: string): boolean {
  const name = text.slice(text.lastIndexOf("/") + 1);
  return name.includes("*") && /^[*.?]+$/.test(name);
}

function gitDiscardsWork({ name, words }: SimpleCommand): boolean {
  const git = readGit(name, words);
  const texts = git?.args.map(({ text }) => text) ?? [];
  const has = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  switch (git?.subcommand?.text) {
    case "reset":
      return has(/^--har/);
    case "checkout":
      return has(/^(?:-f|--force)$/) || texts.some(isWholeTree);
    case "switch":
      return has(/^(?:-f|--force|--discard-changes)$/);
    case "restore":
      return texts.some(isWholeTree) && (!has(/^(?:-S|--staged)$/) || has(/^(?:-W|--worktree)$/));
    case "rm":
      return has(/^-[a-z]*r/) && !has(/^(?:--cached|--dry-run|-n)$/);
    case "stash":
      return has(/^(?:drop|clear)$/);
    case "worktree":
      return texts[0] === "remove" && has(/^(?:-f+|--force)$/);
    default:
      return false;
  }
}

function isWholeTree(text: string): boolean {
  return /^(?:\.{1,2}\/?|\*|\.\/\*|:\/.*|:\(.*|:)$/.test(text);
}
