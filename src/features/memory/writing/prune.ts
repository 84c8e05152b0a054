/**
 * Prunes memories: the least relevant first, and of those the one not read for longest.
 * A pinned memory is never pruned.
 */
import type { Engine, Work } from "#engine/index.ts";
import { command } from "#engine/index.ts";
import type { PruneRequest } from "../contract.ts";
import { deleteRows, growShelf, listFadedShelves, listLeast, lockShelf } from "../queries.ts";
import { fadesAt, MIN_RELEVANCE } from "../ranking/relevance.ts";
import { removeTerms } from "../ranking/term-queries.ts";
import type { MemoryRow, ShelfRow } from "../schema.ts";
import { MAX_UNPINNED } from "../shelf.ts";
import { hintMemory, note } from "../told.ts";

const DAY_MS = 86_400_000;
/** Maximum of memories in one transaction. */
const MOST_AT_ONCE = 200;
export const SWEEP_EVERY_MS = 3_600_000;

/** Removes memories from a locked shelf. */
export async function forget(
  work: Work,
  shelf: ShelfRow,
  rows: readonly MemoryRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  for (const id of ids) await removeTerms(work.tx, shelf.id, id);
  await deleteRows(work.tx, ids);
  await growShelf(work.tx, shelf, {
    memories: -rows.length,
    pinned: -rows.filter(({ pinned }) => pinned === 1).length,
    length: -rows.reduce((sum, { length }) => sum + length, 0),
  });
  hintMemory(work, shelf, ids[0] as string);
}

/** Makes room after a memory was added. That memory stays, or nothing new could ever be added. */
export async function pruneToCap(work: Work, shelf: ShelfRow, keep: string): Promise<MemoryRow[]> {
  const tooMany = shelf.memories - shelf.pinned - MAX_UNPINNED[shelf.kind];
  if (tooMany <= 0) return [];
  const rows = await listLeast(work.tx, { shelfId: shelf.id, keep, limit: tooMany });
  await forget(work, shelf, rows);
  for (const { id } of rows)
    await note(work, shelf, { by: null, action: "pruned", id, detail: "full" });
  return rows;
}

export interface PrunedRows {
  rows: MemoryRow[];
  more: boolean;
}

/** Prunes on request. */
export async function prune(
  work: Work,
  shelf: ShelfRow,
  { below = MIN_RELEVANCE, unusedDays, category, dryRun }: PruneRequest,
): Promise<PrunedRows> {
  const found = await listLeast(work.tx, {
    shelfId: shelf.id,
    // No relevance is below zero.
    fadesBefore: below <= 0 ? 0 : fadesAt(below, work.now),
    accessedBefore: unusedDays === undefined ? undefined : work.now - unusedDays * DAY_MS,
    category,
    limit: MOST_AT_ONCE + 1,
  });
  const rows = found.slice(0, MOST_AT_ONCE);
  if (!dryRun) await forget(work, shelf, rows);
  return { rows, more: found.length > rows.length };
}

/** Prunes faded memories in batches; several servers may do so at once. */
export async function pruneFaded(engine: Engine, now: number): Promise<void> {
  const shelves = await engine.store.read((reader) => listFadedShelves(reader, now, MOST_AT_ONCE));
  for (const id of shelves)
    await command(engine, async (work) => {
      const shelf = await lockShelf(work.tx, id);
      if (!shelf) return;
      const { rows } = await prune(work, shelf, { dryRun: false });
      for (const row of rows)
        await note(work, shelf, { by: null, action: "pruned", id: row.id, detail: "faded" });
    });
}
