/** Location of a session in words: its repository and branch, or its folder. Pure. */
import type { Session } from "#protocol/sessions.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";

export interface SessionLocation {
  /** Text for a list row, such as `acme/api · main`. */
  short: string;
  /** Full address or path. */
  full: string;
}

type Located = Pick<Session, "repo" | "branch" | "projectDir">;

/** Returns null if the session has an empty workspace of its own. */
export function locationOf({ repo, branch, projectDir }: Located): SessionLocation | null {
  const short =
    repo === null ? projectDir && (lastParts(projectDir, 1) || projectDir) : repoName(repo);
  if (!short) return null;
  // A clone works on its own branch, which starts at the requested one.
  const begins = branch === null ? "" : `, started from branch ${branch}`;
  return {
    short: revealLine(branch === null ? short : `${short} · ${branch}`),
    full: revealLine(repo === null ? `Folder ${projectDir}` : `Repository ${repo}${begins}`),
  };
}

/** Returns `owner/name` of an address, or the last folder of a path. */
function repoName(repo: string): string {
  const isPath = /^(?:\/|file:)/i.test(repo);
  const address = isPath ? null : URL.parse(repo);
  const path = (address ? decoded(address.pathname) : repo).replace(/\/+$/, "");
  return lastParts(path.replace(/\.git$/i, ""), isPath ? 1 : 2) || repo;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function lastParts(path: string, count: number): string {
  return path.split("/").filter(Boolean).slice(-count).join("/");
}
