/** Changes and removes one memory: people theirs, agents those in their own scope. */
import { Refusal } from "#base/refusal.ts";
import type { Work } from "#engine/index.ts";
import type { MemoryChange } from "../contract.ts";
import { findMemory, lockScope, type Owner } from "../queries.ts";
import { recordMemoryAction } from "../record-action.ts";
import type { MemoryRow, MemoryScopeRow } from "../schema.ts";
import { forget, pruneToCap } from "./prune.ts";
import { changeMemory, pinnedRefusal } from "./write-memory.ts";

export async function editMemory(
  work: Work,
  owner: Owner,
  id: string,
  change: MemoryChange,
  by: string,
): Promise<MemoryRow> {
  const { row: before, shelf: scope } = await lockMemory(work, owner, id);
  const to = { ...draftOf(before), ...withoutUndefined(change) };
  const row = await changeMemory(work, scope, before, to, null);
  await recordMemoryAction(work, scope, { by, action: actionOf(before, row), id });
  if (row.pinned < before.pinned) await pruneToCap(work, scope, id);
  return row;
}

export async function forgetMemory(
  work: Work,
  owner: Owner,
  id: string,
  by: string,
): Promise<MemoryRow> {
  const { row, shelf: scope } = await lockMemory(work, owner, id);
  await forget(work, scope, [row]);
  await recordMemoryAction(work, scope, { by, action: "forgotten", id });
  return row;
}

/** Removes a memory for an agent: only from its own scope, and never a pinned one. */
export async function forgetByAgent(
  work: Work,
  scope: MemoryScopeRow,
  id: string,
  by: string,
): Promise<MemoryRow> {
  const row = await findMemory(work.tx, { orgId: scope.org_id, userId: scope.user_id }, id);
  if (row?.shelf_id !== scope.id) throw noMemory();
  if (row.pinned === 1) throw pinnedRefusal(row);
  await forget(work, scope, [row]);
  await recordMemoryAction(work, scope, { by, action: "forgotten", id });
  return row;
}

/** Locks the scope, then reads the memory again: it may be gone. */
async function lockMemory(work: Work, owner: Owner, id: string) {
  const seen = await findMemory(work.tx, owner, id);
  const scope = seen && (await lockScope(work.tx, seen.shelf_id));
  const row = scope && (await findMemory(work.tx, owner, id));
  if (!row) throw noMemory();
  return { row, shelf: scope };
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
