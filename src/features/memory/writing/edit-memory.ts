/** Changes and removes one memory: people theirs, agents those on their own shelf. */
import { Refusal } from "#base/refusal.ts";
import type { Work } from "#engine/index.ts";
import type { MemoryChange } from "../contract.ts";
import { findMemory, lockShelf, type Owner } from "../queries.ts";
import type { MemoryRow, ShelfRow } from "../schema.ts";
import { note } from "../told.ts";
import { forget, pruneToCap } from "./prune.ts";
import { changeMemory, pinnedRefusal } from "./write-memory.ts";

export async function editMemory(
  work: Work,
  owner: Owner,
  id: string,
  change: MemoryChange,
  by: string,
): Promise<MemoryRow> {
  const { row: before, shelf } = await lockMemory(work, owner, id);
  const to = { ...draftOf(before), ...withoutUndefined(change) };
  const row = await changeMemory(work, shelf, before, to, null);
  await note(work, shelf, { by, action: actionOf(before, row), id });
  if (row.pinned < before.pinned) await pruneToCap(work, shelf, id);
  return row;
}

export async function forgetMemory(
  work: Work,
  owner: Owner,
  id: string,
  by: string,
): Promise<MemoryRow> {
  const { row, shelf } = await lockMemory(work, owner, id);
  await forget(work, shelf, [row]);
  await note(work, shelf, { by, action: "forgotten", id });
  return row;
}

/** Removes a memory for an agent: only from its own shelf, and never a pinned one. */
export async function forgetByAgent(
  work: Work,
  shelf: ShelfRow,
  id: string,
  by: string,
): Promise<MemoryRow> {
  const row = await findMemory(work.tx, { orgId: shelf.org_id, userId: shelf.user_id }, id);
  if (row?.shelf_id !== shelf.id) throw noMemory();
  if (row.pinned === 1) throw pinnedRefusal(row);
  await forget(work, shelf, [row]);
  await note(work, shelf, { by, action: "forgotten", id });
  return row;
}

/** Locks the shelf, then reads the memory again: it may be gone. */
async function lockMemory(work: Work, owner: Owner, id: string) {
  const seen = await findMemory(work.tx, owner, id);
  const shelf = seen && (await lockShelf(work.tx, seen.shelf_id));
  const row = shelf && (await findMemory(work.tx, owner, id));
  if (!row) throw noMemory();
  return { row, shelf };
}

export function noMemory(): Refusal {
  return new Refusal(
    "not_found",
    "not_found",
    "You have no such memory. Search for it, and take its id from there.",
  );
}

function draftOf({ content, category, title, pinned }: MemoryRow) {
  return { content, category, title, pinned: pinned === 1 };
}

function actionOf(before: MemoryRow, after: MemoryRow) {
  if (after.pinned === before.pinned) return "changed";
  return after.pinned === 1 ? "pinned" : "unpinned";
}

function withoutUndefined(change: MemoryChange) {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
