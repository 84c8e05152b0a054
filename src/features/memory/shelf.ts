/** Shelves of sessions and people, and their limits. */

import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { parseAddress } from "#features/repos/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import type { MemoryKind } from "./contract.ts";
import { listShelves, type Owner, type ShelfKey } from "./queries.ts";
import type { ShelfRow } from "./schema.ts";

/**
 * Maximum of memories that are not pinned.
 * Sessions get more, because a shelf holds everything known about a repository.
 */
export const MAX_UNPINNED: Readonly<Record<MemoryKind, number>> = {
  orchestrator: 200,
  session: 1_000,
};
export const MAX_PINNED = 200;

/** Returns the shelf of a session's agent. It follows from the server's row, never from the agent's input. */
export function shelfOf({ kind, org_id: orgId, owner_id, repo }: SessionRow): ShelfKey {
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

/** Lists a person's shelves of a kind; with `repo`, an address or a name, only those of that repository. */
export async function shelvesOf(
  reader: Reader,
  owner: Owner,
  kind: MemoryKind,
  repo?: string,
): Promise<ShelfRow[]> {
  const all = await listShelves(reader, owner, kind);
  if (repo === undefined) return all;
  const key = repoKey(repo);
  return all.filter(
    (shelf) => shelf.repo === key || (key !== "" && shelf.repo.endsWith(`/${key}`)),
  );
}
