/** Deletes a task with all its parts. Dependents of any of them are notified and wait no longer. */
import { clearTimer } from "#engine/index.ts";
import { type BoardEdit, causeOf, hint } from "../board/board.ts";
import { blockersDeleted } from "../board/dependents.ts";
import { sendBoardNotices } from "../notify.ts";
import {
  deleteTasks,
  listBlockers,
  listDependents,
  listSubtaskIds,
  listTasksById,
} from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import { DUE_TIMER } from "./record-changes.ts";

export async function deleteTask(edit: BoardEdit, task: TaskRow): Promise<string[]> {
  const { work, actor } = edit;
  const ids = await withParts(edit, task.id);
  const deleted = new Map((await listTasksById(work.tx, ids)).map((row) => [row.id, row]));
  const dependents = (await listDependents(work.tx, ids)).filter(({ id }) => !deleted.has(id));
  const edges = await listBlockers(
    work.tx,
    dependents.map(({ id }) => id),
  );
  const waited = dependents.map((row) => ({
    task: row,
    for: edges
      .filter(({ task_id, blocked_by }) => task_id === row.id && deleted.has(blocked_by))
      .map(({ blocked_by }) => blocked_by),
  }));
  await deleteTasks(work.tx, ids);
  await work.emit({ type: "records_deleted", kind: "task", ids });
  for (const id of ids) {
    if (deleted.get(id)?.due_at !== null) await clearTimer(work.tx, DUE_TIMER, id);
    hint(edit, id);
  }
  await blockersDeleted(edit, deleted, waited);
  await sendBoardNotices(work, edit.notices, causeOf(actor));
  return ids;
}

async function withParts({ work }: BoardEdit, id: string): Promise<string[]> {
  const all = new Set([id]);
  let level = [id];
  while (level.length > 0) {
    level = (await listSubtaskIds(work.tx, level)).filter((part) => !all.has(part));
    for (const part of level) all.add(part);
  }
  return [...all];
}
