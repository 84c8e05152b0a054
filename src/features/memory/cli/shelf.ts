/** Where memories are: your orchestrator's, or with `--repo` what your sessions know of a repository. */
import type { Memory } from "#features/memory/contract.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/terminal.ts";

export const MEMORIES = "/api/me/memories";
const SESSION_MEMORIES = "/api/me/memories/session";

export interface RepoOption {
  repo?: string;
}

export const REPO_OPTION = [
  "--repo <repo>",
  "what your sessions know of this repository, instead of your orchestrator's",
] as const;

/** `sessions`: of all repositories. */
export function memoriesPath({ repo, sessions = false }: RepoOption & { sessions?: boolean }) {
  return sessions || repo !== undefined ? SESSION_MEMORIES : MEMORIES;
}

export const memoryPath = (id: string) => `${MEMORIES}/${encodeURIComponent(id)}`;

const SHOWN_CHARS = 90;

/** For a line of a table or an answer. */
export function shownMemory({ title, content }: Pick<Memory, "title" | "content">): string {
  return shorten(safeLine(title === null ? content : `${title}: ${content}`), SHOWN_CHARS);
}
