/** Whose memories a session or a person means, and how much there is room for. */

import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { parseAddress } from "#features/repos/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import type { MemoryKind } from "./contract.ts";
import { listShelves, type Owner, type ShelfKey } from "./queries.ts";
import type { ShelfRow } from "./schema.ts";

/** Of those that are not pinned. Sessions get more, because a shelf is all that is known of a repository. */
export const MAX_UNPINNED: Readonly<Record<MemoryKind, number>> = {
  orchestrator: 200,
  session: 1_000,
};
export const MAX_PINNED = 200;

/** What a session's agent has: the shelf follows from the server's row, never from what it says. */
export function shelfOf({ kind, org_id: orgId, owner_id, repo }: SessionRow): ShelfKey {
  const userId = owner_id ?? "";
  return isOrchestrator({ kind })
    ? { orgId, userId, kind: "orchestrator", repo: "" }
    : { orgId, userId, kind: "session", repo: repoKey(repo) };
}

/** The same for all ways to write one repository. */
export function repoKey(repo: string | null | undefined): string {
  if (repo === null || repo === undefined || repo.trim() === "") return "";
  try {
    return parseAddress(repo).key;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // A name such as acme/api, or something that no repository has.
    return repo
      .trim()
      .toLowerCase()
      .replace(/\.git$/, "");
  }
}

/** A person's shelves of a kind; of one repository, if it is named by its address or by its name. */
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
