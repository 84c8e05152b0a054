/**
 * Options for the memories of a command:
 * the orchestrator's, or with `--repo` those of sessions on a repository.
 */
import type { Memory } from "#features/memory/contract.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/text/terminal.ts";

export interface RepoOption {
  repo?: string;
}

export const REPO_OPTION = [
  "--repo <repo>",
  "the memories of your sessions for this repository, instead of your orchestrator's",
] as const;

/** True for memories of sessions; `sessions` means those of all repositories. */
export function isOfSessions({ repo, sessions = false }: RepoOption & { sessions?: boolean }) {
  return sessions || repo !== undefined;
}

const SHOWN_CHARS = 90;

/** Shortens a memory to one line of a table or a message. */
export function shownMemory({ title, content }: Pick<Memory, "title" | "content">): string {
  return shorten(safeLine(title === null ? content : `${title}: ${content}`), SHOWN_CHARS);
}
