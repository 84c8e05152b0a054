/** Parts of a git command: the options before the subcommand, the subcommand, its arguments. */
import type { Word } from "./shell-lexer.ts";

export interface GitCall {
  /** Options before the subcommand: `-C x`, `-c a=b`. */
  options: readonly Word[];
  /** Undefined if no word follows the options; a wrapper such as `xargs` may still add one. */
  subcommand: Word | undefined;
  args: readonly Word[];
}

const TAKES_VALUE: ReadonlySet<string> = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
]);

/** Splits a git command; undefined for any other program. */
export function readGit(name: string, words: readonly Word[]): GitCall | undefined {
  const rest = words.slice(1);
  if (name.startsWith("git-")) {
    const subcommand = { text: name.slice("git-".length), known: true, loose: false, globs: false };
    return { options: [], subcommand, args: rest };
  }
  // `hub` is git with more subcommands.
  if (name !== "git" && name !== "hub") return undefined;
  let at = 0;
  while (at < rest.length && (rest[at] as Word).text.startsWith("-"))
    at += TAKES_VALUE.has((rest[at] as Word).text) ? 2 : 1;
  return { options: rest.slice(0, at), subcommand: rest[at], args: rest.slice(at + 1) };
}

const COMMANDS: ReadonlySet<string> = new Set(
  `add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr
  check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool
  clean clone column commit commit-graph commit-tree config count-objects credential describe
  diagnose diff diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack
  filter-branch filter-repo fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc
  get-tar-commit-id grep gui hash-object help hook index-pack init init-db instaweb
  interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge
  merge-base merge-file merge-index merge-one-file merge-tree mergetool mktag mktree
  multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs patch-id prune
  prune-packed pull quiltimport range-diff read-tree rebase reflog refs remote repack replace
  replay request-pull rerere reset restore rev-list rev-parse revert rm scalar shortlog show
  show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree
  svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref
  update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree
  write-tree flow absorb`.split(/\s+/),
);

/**
 * True for git's own subcommands that send nothing by themselves.
 * Any other word may be an alias for one that does.
 */
export function isOwnCommand(subcommand: string): boolean {
  return COMMANDS.has(subcommand);
}
