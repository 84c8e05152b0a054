/**
 * Prunes memories: the least relevant first, and of those the one not read for longest.
 * A pinned memory is never pruned.
 */
import type { Engine, Work } from "#engine/index.ts";
import { command } from "#engine/index.ts";
import type { PruneRequest } from "../contract.ts";
import {
  deleteRows,
  growScope,
  listFadedScopes,
  listPruneCandidates,
  lockScope,
} from "../queries.ts";
import { fadesAt, MIN_RELEVANCE } from "../ranking/relevance.ts";
import { removeTerms } from "../ranking/term-queries.ts";
import { hintMemory, recordMemoryAction } from "../record-action.ts";
import type { MemoryRow, MemoryScopeRow } from "../schema.ts";
import { MAX_UNPINNED } from "../scope.ts";

const DAY_MS = 86_400_000;
/** Maximum of memories in one transaction. */
const MOST_AT_ONCE = 200;
export const SWEEP_EVERY_MS = 3_600_000;

/** Removes memories from a locked scope. */
export async function forget(
  work: Work,
  scope: MemoryScopeRow,
  rows: readonly MemoryRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  for (const id of ids) await removeTerms(work.tx, scope.id, id);
  await deleteRows(work.tx, ids);
  await growScope(work.tx, scope, {
    memories: -rows.length,
    pinned: -rows.filter(({ pinned }) => pinned === 1).length,
    length: -rows.reduce((sum, { length }) => sum + length, 0),
  });
  hintMemory(work, scope, ids[0] as string);
}

/** Makes room after a memory was added. That memory stays, or nothing new could ever be added. */
export async function pruneToCap(
  work: Work,
  scope: MemoryScopeRow,
  keep: string,
): Promise<MemoryRow[]> {
  const tooMany = scope.memories - scope.pinned - MAX_UNPINNED[scope.kind];
  if (tooMany <= 0) return [];
  const rows = await listPruneCandidates(work.tx, { shelfId: scope.id, keep, limit: tooMany });
  await forget(work, scope, rows);
  for (const { id } of rows)
    await recordMemoryAction(work, scope, { by: null, action: "pruned", id, detail: "full" });
  return rows;
}

export interface PrunedRows {
  rows: MemoryRow[];
  more: boolean;
}

/** Prunes on request. */
export async function prune(
  work: Work,
  scope: MemoryScopeRow,
  { below = MIN_RELEVANCE, unusedDays, category, dryRun }: PruneRequest,
): Promise<PrunedRows> {
  const found = await listPruneCandidates(work.tx, {
    shelfId: scope.id,
    // No relevance is below zero.
    fadesBefore: below <= 0 ? 0 : fadesAt(below, work.now),
    accessedBefore: unusedDays === undefined ? undefined : work.now - unusedDays * DAY_MS,
    category,
    limit: MOST_AT_ONCE + 1,
  });
  const rows = found.slice(0, MOST_AT_ONCE);
  if (!dryRun) await forget(work, scope, rows);
  return { rows, more: found.length > rows.length };
}

/** Prunes faded memories in batches; several servers may do so at once. */
export async function pruneFaded(engine: Engine, now: number): Promise<void> {
  const scopes = await engine.store.read((reader) => listFadedScopes(reader, now, MOST_AT_ONCE));
  for (const id of scopes)
    await command(engine, async (work) => {
      const scope = await lockScope(work.tx, id);
      if (!scope) return;
      const { rows } = await prune(work, scope, { dryRun: false });
      for (const row of rows)
        await recordMemoryAction(work, scope, {
          by: null,
          action: "pruned",
          id: row.id,
          detail: "faded",
        });
    });
}
