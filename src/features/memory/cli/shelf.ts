/** The memories a command is about: the orchestrator's, or with `--repo` those of sessions on a repository. */
import type { Memory } from "#features/memory/contract.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/text/terminal.ts";

export interface RepoOption {
  repo?: string;
}

export const REPO_OPTION = [
  "--repo <repo>",
  "what your sessions know of this repository, instead of your orchestrator's",
] as const;

/** `sessions` means those of all repositories. */
export function isOfSessions({ repo, sessions = false }: RepoOption & { sessions?: boolean }) {
  return sessions || repo !== undefined;
}

const SHOWN_CHARS = 90;

/** Shortens a memory to a line of a table or an answer. */
export function shownMemory({ title, content }: Pick<Memory, "title" | "content">): string {
  return shorten(safeLine(title === null ? content : `${title}: ${content}`), SHOWN_CHARS);
}
