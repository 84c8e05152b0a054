/** Scopes of sessions and people, and their limits. */

import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { parseAddress } from "#features/repos/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import type { MemoryKind } from "./contract.ts";
import { listScopes, type MemoryScopeKey, type Owner } from "./queries.ts";
import type { MemoryScopeRow } from "./schema.ts";

/**
 * Maximum of memories that are not pinned.
 * Sessions get more, because a scope holds everything known about a repository.
 */
export const MAX_UNPINNED: Readonly<Record<MemoryKind, number>> = {
  orchestrator: 200,
  session: 1_000,
};
export const MAX_PINNED = 200;

/** Returns the scope of a session's agent. It follows from the server's row, never from the agent's input. */
export function scopeOf({ kind, org_id: orgId, owner_id, repo }: SessionRow): MemoryScopeKey {
  const userId = owner_id ?? "";
  return isOrchestrator({ kind })
    ? { orgId, userId, kind: "orchestrator", repo: "" }
    : { orgId, userId, kind: "session", repo: repoKey(repo) };
}

/** Normalizes the spellings of one repository. */
export function repoKey(repo: string | null | undefined): string {
  if (repo === null || repo === undefined || repo.trim() === "") return "";
  try {
    return parseAddress(repo).key;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // A name such as acme/api, or text that names no repository.
    return repo
      .trim()
      .toLowerCase()
      .replace(/\.git$/, "");
  }
}

/** Lists a person's scopes of a kind; with `repo`, an address or a name, only those of that repository. */
export async function scopesOf(
  reader: Reader,
  owner: Owner,
  kind: MemoryKind,
  repo?: string,
): Promise<MemoryScopeRow[]> {
  const all = await listScopes(reader, owner, kind);
  if (repo === undefined) return all;
  const key = repoKey(repo);
  return all.filter(
    (scope) => scope.repo === key || (key !== "" && scope.repo.endsWith(`/${key}`)),
  );
}
